package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/** The connection is over, whatever the channel still has to do: input is discarded, writes fail. */
final class ClosedPhase extends Phase {

    private final @Nullable Throwable cause;

    ClosedPhase(ZMTPCodec codec, @Nullable Throwable cause) {
        super(codec);
        this.cause = cause;
    }

    /** Why the connection ended, or null if that was nobody's fault. */
    @Nullable
    Throwable cause() {
        return cause;
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
}
