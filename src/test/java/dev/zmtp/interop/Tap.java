package dev.zmtp.interop;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

/** Listens between the socket and the codec to see the commands that the codec consumes. For short conversations. */
@Sharable
final class Tap extends ChannelDuplexHandler {

    private final StringBuilder received = new StringBuilder();
    private final StringBuilder sent = new StringBuilder();

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        note(received, (ByteBuf) msg);
        ctx.fireChannelRead(msg);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        note(sent, (ByteBuf) msg);
        ctx.write(msg, promise);
    }

    private synchronized void note(StringBuilder log, ByteBuf bytes) {
        log.append(bytes.toString(StandardCharsets.ISO_8859_1));
        notifyAll();
    }

    /** How often the command {@code name} was received until now. */
    synchronized int received(String name) {
        return count(received, name);
    }

    /** How often the command {@code name} was sent until now. */
    synchronized int sent(String name) {
        return count(sent, name);
    }

    /** Waits until {@code condition}, which asks this tap, is true. */
    synchronized void await(BooleanSupplier condition) {
        long deadline = Patience.deadline();
        while (!condition.getAsBoolean()) {
            if (Patience.isOver(deadline)) {
                throw new AssertionError("bytes received: " + received.length() + ", sent: " + sent.length()
                        + " (expected: the commands that are awaited)");
            }
            try {
                wait(Patience.RETRY.toMillis());
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }
    }

    private static int count(StringBuilder log, String name) {
        String command = (char) name.length() + name;
        int count = 0;
        for (int at = log.indexOf(command); at >= 0; at = log.indexOf(command, at + 1)) {
            count++;
        }
        return count;
    }
}
