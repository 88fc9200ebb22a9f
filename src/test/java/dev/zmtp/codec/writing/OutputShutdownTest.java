package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.CodecClock;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.OutputShutdown;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.Test;

/** A user shuts the output down, which passes no handler, while a flush waits: the input goes on. */
class OutputShutdownTest {

    private final Duplex channel = new Duplex();
    private final ZMTPCodec codec =
            CodecClock.set(ZMTPCodec.builder().socketType(ROUTER), () -> 0).build();
    private final ScriptedPeer peer = new ScriptedPeer(channel, new Transport(), codec);

    /** A socket of two halves. */
    private static final class Duplex extends EmbeddedChannel implements OutputShutdown {
        private boolean isOutputShutdown;

        @Override
        public boolean isOutputShutdown() {
            return isOutputShutdown;
        }

        @Override
        public ChannelFuture shutdownOutput(ChannelPromise promise) {
            isOutputShutdown = true;
            return promise.setSuccess();
        }
    }

    /** Fails what is written after the shutdown, as Netty's sockets do. */
    private static final class Transport extends ChannelOutboundHandlerAdapter {
        private boolean fails;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            if (fails || ((DuplexChannel) ctx.channel()).isOutputShutdown()) {
                promise.setFailure(new ChannelOutputShutdownException("output shut down"));
            } else {
                promise.setSuccess();
            }
        }

        /** The channel would run all tasks, and there is nothing to send. */
        @Override
        public void flush(ChannelHandlerContext ctx) {}
    }

    private void shakeHands() {
        peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
        channel.runPendingTasks();
    }

    @Test
    void whatWaitsFailsAndTheInputGoesOn() {
        shakeHands();
        assertThat(channel.pipeline()
                        .writeAndFlush(ZMTPMessage.fromUTF8("first"))
                        .isSuccess())
                .isTrue();
        ChannelFuture second = channel.pipeline().writeAndFlush(ZMTPMessage.fromUTF8("second"));
        assertThat(second.isDone()).isFalse();
        channel.shutdownOutput();
        channel.runPendingTasks();

        assertThat(second.isDone()).isTrue();
        assertThat(second.cause()).isInstanceOf(ChannelOutputShutdownException.class);
        peer.send("00 01 61");
        assertThat(peer.messages).containsExactly("message 61");
        assertThat(peer.failures).isEmpty();
        peer.close();
    }

    @Test
    void aWriteThatFailsWhileTheOutputIsOpenEndsTheConnection() {
        shakeHands();
        channel.pipeline().get(Transport.class).fails = true;
        channel.pipeline().writeAndFlush(ZMTPMessage.fromUTF8("torn"));
        channel.runPendingTasks();
        assertThat(channel.isOpen()).isFalse();
        peer.close();
    }
}
