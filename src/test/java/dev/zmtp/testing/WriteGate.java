package dev.zmtp.testing;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Holds back what a socket has written, on all of its connections, as a peer does that does not read. While it is
 * closed, one {@link #big} message fills what the transport takes.
 */
public final class WriteGate implements BiConsumer<ZMTPEndpoint, ChannelPipeline> {

    /** More than the water mark of a channel. */
    private static final int BIG = 70_000;

    private final Set<ChannelHandlerContext> held = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** A message that begins with the text, and makes a channel unwritable. */
    public static ZMTPMessage big(String text) {
        byte[] bytes = Arrays.copyOf(text.getBytes(StandardCharsets.UTF_8), BIG);
        return ZMTPMessage.from(Unpooled.wrappedBuffer(bytes));
    }

    /** The text of a message, which is {@link #big} or not, and is released. */
    public static String text(ZMTPMessage message) {
        String last = TestSockets.frames(message).stream().reduce("", (a, b) -> b);
        int end = last.indexOf(0);
        return end < 0 ? last : last.substring(0, end);
    }

    @Override
    public void accept(ZMTPEndpoint endpoint, ChannelPipeline pipeline) {
        pipeline.addLast(new Handler());
    }

    public void close() {
        closed = true;
    }

    public void open() {
        closed = false;
        for (ChannelHandlerContext ctx : List.copyOf(held)) {
            if (held.remove(ctx)) {
                ctx.executor().execute(ctx::flush);
            }
        }
    }

    private final class Handler extends ChannelOutboundHandlerAdapter {
        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (closed) {
                held.add(ctx);
                if (closed) { // it was not opened in between
                    return;
                }
                held.remove(ctx);
            }
            ctx.flush();
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            held.remove(ctx);
        }
    }
}
