package dev.zmtp.internal.write;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.FrameLog;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives buffers to the transport, completes the promises of what is in them with the transport's results, and counts
 * the messages that the transport has taken.
 *
 * <p>What the transport gets counts as the connection's memory until it is sent.
 */
final class TransportWrites {

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final WritePromises promises;
    private final @Nullable FrameLog frameLog;
    private final WriteListeners listeners = new WriteListeners(this);

    /** The transport has something that it was not asked to send. */
    private boolean hasUnflushedWrites;

    private long bytes;

    /** Completes {@code promises} with the result of the batch that is given to the transport next. */
    TransportWrites(Connection connection, ZMTPVersion version, WritePromises promises) {
        this.connection = connection;
        this.ctx = connection.ctx();
        this.promises = promises;
        this.frameLog = FrameLog.of(ctx.channel(), version);
    }

    /** Gives the transport a batch, whose promises are waiting. */
    void batch(ByteBuf full) {
        boolean hasVoid = promises.hasVoid();
        int messages = promises.messages();
        List<ChannelPromise> waiting = promises.take();
        logFrames(full);
        write(full, listeners.of(waiting, hasVoid, messages));
    }

    /** Gives the transport all frames of a message, with its promise. */
    void frames(ByteBuf frames, ChannelPromise promise) {
        logFrames(frames);
        write(frames, listeners.of(promise, 1));
    }

    private void logFrames(ByteBuf frames) {
        if (frameLog != null) {
            frameLog.sent(frames);
        }
    }

    /** Gives the transport a body, with the promise of its message if that ends with it. */
    void body(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        if (frameLog != null) {
            frameLog.sent(flags, body);
        }
        write(body, listeners.of(promise, promises.messagesPerPromise()));
    }

    /** Completes {@code promise} with the result of all that was given to the transport. */
    void barrier(ChannelPromise promise) {
        // Not with the promise itself: it must complete after those before it, on the codec's executor as they do.
        write(Unpooled.EMPTY_BUFFER, listeners.of(promise, 0));
    }

    private void write(ByteBuf buffer, ChannelFutureListener listener) {
        hasUnflushedWrites = true;
        int length = buffer.readableBytes();
        bytes += length;
        connection.memory().written(length);
        ctx.write(buffer).addListener(listener);
    }

    /** The bytes that the transport has got, whether or not it has sent them. */
    long bytes() {
        return bytes;
    }

    /** Returns whether the transport has something that it was not asked to send. */
    boolean isUnflushed() {
        return hasUnflushedWrites;
    }

    /** Sends what the transport has, and counts what it could not send. */
    void flush() {
        hasUnflushedWrites = false;
        ctx.flush();
        connection.memory().count();
    }

    /** The transport is done with a buffer in which this many messages end, and for which {@code waiting} waits. */
    void completed(ChannelFuture write, List<ChannelPromise> waiting, boolean hasVoid, int messages) {
        connection.memory().onSent();
        Throwable cause = write.cause();
        if (cause == null) {
            connection.session().written(messages); // first: the listeners of the promises may ask for it
            WritePromises.succeed(waiting);
            return;
        }
        if (connection.isClosed()) {
            WritePromises.fail(waiting, cause);
            connection.phase().writeFailed(cause, hasVoid);
        } else {
            // The codec first: a listener that writes again must not do so after bytes that are missing.
            promises.putBack(waiting);
            int failed = waiting.size();
            connection.phase().writeFailed(cause, hasVoid);
            // Those of this buffer alone, if the connection is not over by now: buffers after it fail next, in order.
            promises.failFirst(failed, cause);
        }
    }
}
