package dev.zmtp.internal.handshake;

import dev.zmtp.internal.connection.Connection;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The channel is active, and the handshake begins later. Nothing is read or sent until then, and writes are held. If
 * the transport or a handler before the codec reads nevertheless, the pause is over: what they read would have to be
 * kept.
 */
final class PausedPhase extends HandshakePhase {

    private final long nanos;
    private @Nullable Future<?> timer;

    /** A pause of this many nanoseconds, but no more than half of the time that the handshake may take. */
    PausedPhase(Connection connection, long nanos) {
        super(connection);
        Duration limit = connection.config().handshakeTimeout();
        this.nanos = limit.isZero() ? nanos : Math.min(nanos, limit.toNanos() / 2);
    }

    @Override
    public void begin() {
        connection.demand().pause();
        connection.session().beginWork(); // the peer waits for us, and a limiter should not drop it for that
        timer = connection.ctx().executor().schedule(this::over, nanos, TimeUnit.NANOSECONDS);
    }

    private void over() {
        connection.reads().step(connection.handshake()::greet);
        connection.demand().readOn();
    }

    @Override
    public void read(ByteBuf in) {
        connection.handshake().greet();
    }

    @Override
    public void end(@Nullable Throwable cause) {
        if (timer != null) {
            timer.cancel(false);
        }
        connection.session().endWork();
        connection.demand().resume();
    }

    @Override
    public String toString() {
        return "waiting, as a connection with the same address has exceeded the memory budget";
    }
}
