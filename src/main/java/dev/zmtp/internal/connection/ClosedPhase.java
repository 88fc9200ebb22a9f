package dev.zmtp.internal.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * The phase after the end of the connection, regardless of the channel's remaining work. Input is discarded and writes
 * fail.
 */
final class ClosedPhase extends Phase {

    private final @Nullable Throwable cause;

    /** The connection ended because of {@code cause}, or without a failure if it is null. */
    ClosedPhase(Connection connection, @Nullable Throwable cause) {
        super(connection);
        this.cause = cause;
    }

    @Override
    public void begin() {
        connection.ended();
    }

    @Override
    public void read(ByteBuf in) {
        in.skipBytes(in.readableBytes());
    }

    @Override
    public void write(Object message, ChannelPromise promise) {
        ReferenceCountUtil.safeRelease(message);
        ClosedChannelException closed = new ClosedChannelException();
        if (cause != null) {
            closed.initCause(cause);
        }
        if (promise.isVoid()) {
            voidWriteFailed(closed); // not through the promise, which would report each failed write
        } else {
            promise.tryFailure(closed);
        }
    }

    @Override
    public void flush() {
        connection.ctx().flush();
    }

    @Override
    public void inputEnded() {
        flush();
        connection.ctx().close();
    }

    /**
     * A failure can be reported twice. An SslHandler fails the writes that it holds with it and passes it, wrapped, to
     * the pipeline. A proxy handler fails the connect with it and then the pipeline.
     */
    @Override
    public void exceptionCaught(Throwable failure) {
        connection.reports().afterEnd(failure, cause);
    }

    @Override
    public void writeFailed(Throwable failure, boolean isVoid) {
        if (isVoid) {
            voidWriteFailed(failure);
        }
        if (connection.wasRemoved() && connection.reports().isTorn()) {
            connection.ctx().close(); // otherwise the next handler would write after missing bytes
        }
    }

    private void voidWriteFailed(Throwable failure) {
        if (cause == null) {
            connection.reports().voidWriteFailed(failure);
        }
    }

    @Override
    public String toString() {
        return "closed";
    }
}
