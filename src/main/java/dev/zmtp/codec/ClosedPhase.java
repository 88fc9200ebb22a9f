package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/** The connection is over, whatever the channel still has to do: input is discarded, writes fail. */
final class ClosedPhase extends Phase {

    private final @Nullable Throwable cause;

    /** The connection ended for {@code cause}, or without a failure if that is null. */
    ClosedPhase(ZMTPCodec codec, @Nullable Throwable cause) {
        super(codec);
        this.cause = cause;
    }

    @Override
    void begin() {
        codec.connectionEnded();
    }

    @Override
    void read(ByteBuf in) {
        in.skipBytes(in.readableBytes());
    }

    @Override
    void write(Object message, ChannelPromise promise) {
        ReferenceCountUtil.safeRelease(message);
        ClosedChannelException closed = new ClosedChannelException();
        if (cause != null) {
            closed.initCause(cause);
        }
        promise.tryFailure(closed);
    }

    @Override
    void flush() {
        codec.ctx().flush();
    }

    @Override
    void inputEnded() {
        flush();
        codec.ctx().close();
    }

    /** An SslHandler reports one failure twice: to the writes that it holds, and, wrapped, to the pipeline. */
    @Override
    void exceptionCaught(Throwable failure) {
        boolean isReported = cause != null && (failure == cause || failure.getCause() == cause);
        if (!isReported) {
            codec.ctx().fireExceptionCaught(failure);
        }
    }

    @Override
    void writeFailed(Throwable failure, boolean isVoid) {
        if (isVoid && cause == null) {
            codec.ctx().fireExceptionCaught(failure);
        }
        if (codec.wasRemoved() && codec.ctx().channel().isActive()) {
            codec.ctx().close(); // otherwise the next handler would write after bytes that are missing
        }
    }

    @Override
    public String toString() {
        return "closed";
    }
}
