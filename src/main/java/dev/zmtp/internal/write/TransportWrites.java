package dev.zmtp.internal.write;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.FrameLog;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Passes buffers to the transport, completes the promises of their messages with the transport's results, and counts
 * the messages that the transport has accepted.
 *
 * <p>Buffers of the transport count as the connection's memory until they are sent.
 */
final class TransportWrites {

    /** Minimum length of a buffer whose progress is counted. */
    private static final int LARGE = 64 << 10;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final WritePromises promises;
    private final @Nullable FrameLog frameLog;
    private final WriteListeners listeners = new WriteListeners(this);

    /** True if the transport has data that was not flushed. */
    private boolean hasUnflushedWrites;

    private long bytes;

    /** Completes {@code promises} with the result of the batch that is passed to the transport next. */
    TransportWrites(Connection connection, ZMTPVersion version, WritePromises promises) {
        this.connection = connection;
        this.ctx = connection.ctx();
        this.promises = promises;
        this.frameLog = FrameLog.of(ctx.channel(), version);
    }

    /** Passes a batch to the transport, whose promises are waiting. */
    void batch(ByteBuf full) {
        boolean hasVoid = promises.hasVoid();
        int messages = promises.messages();
        List<ChannelPromise> waiting = promises.take();
        ChannelPromise done;
        try {
            logFrames(full);
            done = done(full, listeners.of(waiting, hasVoid, messages));
        } catch (Throwable e) {
            EncoderException failure = notPassed(full, e);
            if (waiting != null) {
                WritePromises.fail(waiting, failure);
            }
            throw failure;
        }
        write(full, done, waiting == null ? 0 : waiting.size());
    }

    /** Passes all frames of a message to the transport, with its promise. */
    void frames(ByteBuf frames, ChannelPromise promise) {
        ChannelPromise done;
        try {
            logFrames(frames);
            done = done(frames, listeners.of(promise, 1));
        } catch (Throwable e) {
            throw notPassed(frames, e);
        }
        write(frames, done, 1);
    }

    private void logFrames(ByteBuf frames) {
        if (frameLog != null) {
            frameLog.sent(frames);
        }
    }

    /** Passes a body to the transport, with the promise of its message if the message ends with it. */
    void body(int flags, ByteBuf body, @Nullable ChannelPromise promise) {
        ChannelPromise done;
        try {
            if (frameLog != null) {
                frameLog.sent(flags, body);
            }
            done = done(body, listeners.of(promise, promises.messagesPerPromise()));
        } catch (Throwable e) {
            throw notPassed(body, e);
        }
        write(body, done, 1);
    }

    /**
     * Ends the connection because {@code bytes} are not passed to the transport, of which the peer would miss a part of
     * the stream. Releases the bytes, and returns the failure.
     */
    private EncoderException notPassed(ByteBuf bytes, Throwable cause) {
        EncoderException failure = new EncoderException("written bytes were not passed to the transport", cause);
        bytes.release();
        connection.fail(failure);
        return failure;
    }

    /** Completes {@code promise} with the result of all data that was passed to the transport. */
    void barrier(ChannelPromise promise) {
        // Not with the promise itself, because it must complete after the earlier promises, like them on the codec's
        // executor.
        write(Unpooled.EMPTY_BUFFER, done(Unpooled.EMPTY_BUFFER, listeners.of(promise, 0)), 1);
    }

    /** Returns a promise with the listener. It is made first, because there might be no memory for it. */
    private ChannelPromise done(ByteBuf buffer, ChannelFutureListener listener) {
        int length = buffer.readableBytes();
        return length < LARGE
                ? ctx.newPromise().addListener(listener)
                : ctx.newProgressivePromise().addListener(new Progress(length, listener));
    }

    private void write(ByteBuf buffer, ChannelPromise done, int promises) {
        hasUnflushedWrites = true;
        int length = buffer.readableBytes();
        bytes += length;
        connection.memory().written(length, promises);
        ctx.write(buffer, done);
    }

    /**
     * Notes the sent parts of a large buffer, because its peer can need minutes to read it. The transport can have more
     * bytes for it, such as the headers of WebSocket.
     */
    private final class Progress implements ChannelProgressiveFutureListener {
        private final int length;
        private final ChannelFutureListener done;
        private long noted;

        Progress(int length, ChannelFutureListener done) {
            this.length = length;
            this.done = done;
        }

        @Override
        public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
            long sent = Math.min(progress, length);
            connection.memory().sentPart(sent - noted);
            noted = sent;
        }

        @Override
        public void operationComplete(ChannelProgressiveFuture future) throws Exception {
            done.operationComplete(future);
        }
    }

    /** Returns the number of bytes passed to the transport, whether sent or not. */
    long bytes() {
        return bytes;
    }

    /** Returns whether the transport has data that was not flushed. */
    boolean isUnflushed() {
        return hasUnflushedWrites;
    }

    /** Sends the data that the transport has, and counts the bytes that it could not send. */
    void flush() {
        hasUnflushedWrites = false;
        ctx.flush();
        connection.memory().count();
    }

    /**
     * Called when the transport is done with a buffer that ends this many messages and has the promises {@code
     * waiting}.
     */
    void completed(ChannelFuture write, List<ChannelPromise> waiting, boolean hasVoid, int messages) {
        connection.memory().onSent(waiting.size());
        Throwable cause = write.cause();
        if (cause == null) {
            connection.session().written(messages); // first, because the listeners of the promises can query it
            WritePromises.succeed(waiting);
            return;
        }
        if (connection.isClosed()) {
            WritePromises.fail(waiting, cause);
            connection.phase().writeFailed(cause, hasVoid);
        } else {
            // The codec first, because a listener that writes again must not do so after missing bytes.
            promises.putBack(waiting);
            connection.phase().writeFailed(cause, hasVoid);
            // Only the promises of this buffer, if the connection is not over yet. Later buffers fail next, in order.
            promises.failAgain(waiting, cause);
        }
    }
}
