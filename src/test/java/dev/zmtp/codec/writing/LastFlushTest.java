package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ReadingTransport;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What was flushed leaves, however the connection ends, and whether or not flushes wait for others of their turn. */
class LastFlushTest {

    private static final String THREE = "00 01 61 / 00 01 62 / 00 01 63";

    /** Keeps what was flushed, up to its close. It runs no task: what should leave in time must not wait for one. */
    private static final class Transport extends ReadingTransport {
        private final StringBuilder unflushed = new StringBuilder();
        private final StringBuilder sent = new StringBuilder();

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            unflushed.append(Hex.dump((ByteBuf) msg)); // which releases it
            promise.trySuccess();
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (ctx.channel().isActive()) {
                sent.append(unflushed);
                unflushed.setLength(0);
            }
        }
    }

    /** How the connection ends while the answers to three messages have been flushed, each of them. */
    private enum Ending {
        HALF_CLOSE {
            @Override
            void come(Transport transport) {
                transport.ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            }
        },
        CLOSE_NOTIFY {
            @Override
            void come(Transport transport) {
                transport.ctx.fireUserEventTriggered(SslCloseCompletionEvent.SUCCESS);
            }
        },
        CLOSE_BY_A_HANDLER_BEFORE {
            @Override
            void come(Transport transport) {
                transport.ctx.close();
            }
        },
        CLOSE_BY_THE_USER {
            @Override
            void come(Transport transport) {
                transport.ctx.channel().close();
            }
        },
        REMOVAL {
            @Override
            void come(Transport transport) {
                transport.ctx.pipeline().remove(ZMTPCodec.class);
                transport.ctx.channel().flush();
            }
        };

        abstract void come(Transport transport);
    }

    private static String sent(Ending ending, boolean consolidates) {
        Transport transport = new Transport();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.consolidateFlushes(consolidates))
                .before(transport)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ctx.writeAndFlush(msg);
                    }
                })
                .start()) {
            peer.channel.runPendingTasks();
            transport.sent.setLength(0);
            transport.read(THREE);
            ending.come(transport);
            return transport.sent.toString();
        }
    }

    @ParameterizedTest
    @EnumSource
    void thePeerGetsTheSameWhetherOrNotFlushesWait(Ending ending) {
        assertThat(sent(ending, true)).isEqualTo(sent(ending, false)).isEqualTo(Hex.of(THREE));
    }

    /** Keeps writes until it is closed. */
    private static final class FullTransport extends ReadingTransport {
        private final Queue<ChannelPromise> waiting = new ArrayDeque<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            if (ctx.channel().isActive()) {
                waiting.add(promise);
            } else {
                promise.tryFailure(new IOException("closed"));
            }
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {}

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            for (ChannelPromise next = waiting.poll(); next != null; next = waiting.poll()) {
                next.tryFailure(new IOException("reset"));
            }
            ctx.fireChannelInactive();
        }
    }

    /** A sender may pair each result with the oldest of what it has sent. */
    @Test
    void writesThatFailAsTheTransportClosesFailInTheirOrder() {
        List<Integer> failed = new ArrayList<>();
        FullTransport transport = new FullTransport();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start()) {
            for (int i = 0; i < 4; i++) {
                int number = i;
                ChannelFuture write = peer.channel.write(ZMTPMessage.fromUTF8("m" + i));
                write.addListener(done -> failed.add(number));
                if (i < 3) { // the last one is in the open buffer
                    peer.channel.flush();
                    peer.channel.runPendingTasks();
                }
            }
            peer.channel.unsafe().close(peer.channel.voidPromise());
            peer.channel.runPendingTasks();
            assertThat(failed).containsExactly(0, 1, 2, 3);
        }
    }
}
