package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The channel is active, and the handshake begins later. Nothing is read or sent until then, and writes are held. */
final class PausedPhase extends HandshakePhase {

    private final long nanos;
    private @Nullable Future<?> timer;

    PausedPhase(ZMTPCodec codec, long nanos) {
        super(codec);
        this.nanos = nanos;
    }

    @Override
    void begin() {
        codec.demand().pause();
        Runnable greet = codec.handshake()::greet;
        timer = codec.ctx().executor().schedule(() -> codec.reads().step(greet), nanos, TimeUnit.NANOSECONDS);
    }

    /** What a handler before us has read of itself waits with the {@link ReadLoop}. Only the end comes before it. */
    @Override
    void read(ByteBuf in) {
        in.skipBytes(in.readableBytes());
    }

    @Override
    void end(@Nullable Throwable cause) {
        if (timer != null) {
            timer.cancel(false);
        }
        codec.demand().resume();
    }

    @Override
    public String toString() {
        return "waiting, as a connection with the same address has exceeded the memory budget";
    }
}
