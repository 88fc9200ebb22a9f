package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The handshake as a whole: the time that it may take, which progress does not extend, its failures, its success. */
final class HandshakeController {

    private final ZMTPCodec codec;
    private final HandshakeFailures failures;

    /** An event loop that is no later than this had no pause that a peer would notice. */
    private static final long PUNCTUAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private @Nullable PeerTimer timer;

    HandshakeController(ZMTPCodec codec, ZMTPSession session) {
        this.codec = codec;
        this.failures = new HandshakeFailures(session);
    }

    HandshakeFailures failures() {
        return failures;
    }

    /** The channel is active. */
    void begin() {
        startTimer();
        long pause = codec.memory().pause();
        if (pause > 0) {
            codec.enter(new PausedPhase(codec, pause));
        } else {
            greet();
        }
    }

    /** Begins to talk with the peer. */
    void greet() {
        codec.enter(
                codec.config().protocol() == ZMTPVersion.ZMTP10
                        ? IdentityPhase.bothUnversioned(codec)
                        : new GreetingPhase(codec, codec.mechanism()));
    }

    /** Ends the connection if the handshake takes too long. */
    private void startTimer() {
        Duration limit = codec.config().handshakeTimeout();
        if (!limit.isZero()) {
            timer = new PeerTimer(codec.ctx().executor(), codec.config().nanoTime());
            timer.start(limit.toNanos(), this::onTimeout);
        }
    }

    /** Gives the peer the time that this side was late: a handshake takes several turns of each. */
    private void onTimeout(long late) {
        if (late > PUNCTUAL_NANOS && timer != null) {
            timer.start(late, this::onTimeout);
        } else {
            codec.fail(failures.timedOut(codec.phase()));
        }
    }

    void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null; // it would be kept for the life of the connection
        }
    }

    /** The peer will send nothing more, and the handshake is not complete. */
    void endedByPeer() {
        codec.fail(failures.ended("by the peer", codec.phase()));
    }

    /** The handshake is complete: {@code traffic} begins, after what was held and the event that announces it. */
    void succeed(ZMTPHandshake result, TrafficPhase traffic) {
        ZMTPSession session = codec.session();
        ChannelHandlerContext ctx = codec.ctx();
        session.agree(result);
        if (!session.isAgreed()) {
            return; // the generator of identities has closed the channel or removed the codec
        }
        codec.memory().agreed(result);
        codec.enter(traffic);
        traffic.drain();
        if (!traffic.isCurrent()) {
            return; // what was held could not be sent, or a callback of it closed the channel or removed the codec
        }
        cancelTimer();
        session.succeed();
        ctx.fireUserEventTriggered(new ZMTPHandshakeSuccess(session, result));
        if (traffic.isCurrent()) {
            traffic.open();
        }
    }
}
