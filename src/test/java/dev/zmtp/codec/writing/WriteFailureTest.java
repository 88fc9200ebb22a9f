package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A failed write completes every promise, also if the channel is closed in that moment by its event loop while the
 * codec runs on an executor of its own.
 */
class WriteFailureTest {

    private final IOException broken = new IOException("broken");
    private final HeldByTransport transport = new HeldByTransport();
    private final ClosingChannel channel = new ClosingChannel();
    private final List<String> completed = new ArrayList<>();

    @BeforeEach
    void shakeHands() {
        channel.pipeline().addLast(transport, ZMTPCodec.of(DEALER), new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                assertThat(cause).isSameAs(broken);
            }
        });
        channel.writeInbound(
                channel.alloc().buffer().writeBytes(Hex.bytes(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER))));
        channel.releaseOutbound();
        transport.holds = true;
    }

    @AfterEach
    void release() {
        channel.finishAndReleaseAll();
    }

    @ParameterizedTest(name = "the channel is active {0} times")
    @ValueSource(ints = {0, 1, 2, 3})
    void everyPromiseCompletesWhenTheChannelClosesDuringAFailedWrite(int answers) {
        ChannelFuture sent = write("sent");
        ChannelFuture alsoSent = write("also sent");
        channel.flush();
        ChannelFuture open = write("open");
        channel.active = answers;
        channel.closing = true;

        transport.fail(broken);
        assertThat(sent.cause()).isSameAs(broken);
        assertThat(alsoSent.cause()).isSameAs(broken);

        channel.closing = false;
        transport.holds = false;
        channel.close();
        assertThat(open.isDone()).isTrue();
        assertThat(completed).containsExactly("sent", "also sent", "open");
    }

    private ChannelFuture write(String name) {
        return channel.write(ZMTPMessage.fromUTF8(name)).addListener(done -> completed.add(name));
    }

    /** Says that it is active so many times, and then that it is not. */
    private static final class ClosingChannel extends EmbeddedChannel {
        private boolean closing;
        private int active;

        @Override
        public boolean isActive() {
            return closing ? active-- > 0 : super.isActive();
        }
    }

    /** Keeps what is written until it fails it. */
    private static final class HeldByTransport extends ChannelOutboundHandlerAdapter {
        private final List<ChannelPromise> held = new ArrayList<>();
        private boolean holds;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (holds) {
                ((ByteBuf) msg).release();
                held.add(promise);
            } else {
                ctx.write(msg, promise);
            }
        }

        private void fail(Throwable cause) {
            held.forEach(promise -> promise.setFailure(cause));
        }
    }
}
