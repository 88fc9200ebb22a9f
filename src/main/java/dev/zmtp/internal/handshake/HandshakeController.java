package dev.zmtp.internal.handshake;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.HandshakeFailures;
import dev.zmtp.internal.connection.Handshaking;
import dev.zmtp.internal.connection.PeerTimer;
import dev.zmtp.internal.connection.Phase;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The control of the whole handshake: its timeout, which progress does not extend, its failures and its success. */
public final class HandshakeController implements Handshaking {

    private final Connection connection;
    private final HandshakeFailures failures;

    /** Maximum delay of an event loop that counts as punctual, because a peer would not notice the delay. */
    private static final long PUNCTUAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private @Nullable PeerTimer timer;

    /** Nanoseconds by which the timeout was extended. */
    private long extended;

    public HandshakeController(Connection connection) {
        this.connection = connection;
        this.failures = new HandshakeFailures(connection.session());
    }

    @Override
    public Phase firstPhase() {
        return new NewPhase(connection);
    }

    @Override
    public ZMTPMechanism.Context mechanismContext() {
        return new MechanismContext(connection);
    }

    @Override
    public HandshakeFailures failures() {
        return failures;
    }

    @Override
    public void begin() {
        startTimer();
        connection.enter(
                connection.config().protocol() == ZMTPVersion.ZMTP10
                        ? IdentityPhase.bothUnversioned(connection)
                        : new GreetingPhase(connection, connection.mechanism()));
    }

    /** Ends the connection if the handshake takes too long. */
    private void startTimer() {
        Duration limit = connection.config().handshakeTimeout();
        if (!limit.isZero()) {
            timer = new PeerTimer(connection.ctx().executor(), connection.nanoTime());
            timer.start(limit.toNanos(), this::onTimeout);
        }
    }

    /**
     * Extends the timeout by the delay of this side, because both sides have several turns in a handshake. It is at
     * most doubled, because under a load that lasts, strangers would stay.
     */
    private void onTimeout(long late) {
        long more = Math.min(late, connection.config().handshakeTimeout().toNanos() - extended);
        if (late > PUNCTUAL_NANOS && more > 0 && timer != null) {
            extended += more;
            timer.start(more, this::onTimeout);
        } else {
            connection.fail(failures.timedOut(connection.phase()));
        }
    }

    @Override
    public void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null; // it would be retained for the life of the connection
        }
    }

    @Override
    public void endedByPeer() {
        connection.fail(failures.ended("by the peer", connection.phase()));
    }

    @Override
    public void succeed(ZMTPHandshake result, Phase traffic) {
        Session session = connection.session();
        ChannelHandlerContext ctx = connection.ctx();
        session.agree(result);
        if (!session.isAgreed()) {
            return; // the generator of identities has closed the channel or removed the codec
        }
        connection.memory().agreed(result);
        connection.enter(traffic);
        traffic.drain();
        if (!traffic.isCurrent()) {
            return; // the held writes could not be sent, or a callback closed the channel or removed the codec
        }
        cancelTimer();
        session.succeed();
        ctx.fireUserEventTriggered(new ZMTPHandshakeSuccess(session, result));
        connection.demand().handshakeSucceeded();
        if (traffic.isCurrent()) {
            traffic.open();
        }
    }
}
