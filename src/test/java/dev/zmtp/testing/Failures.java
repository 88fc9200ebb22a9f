package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.channel.Channel;
import java.util.List;

/** What every failure has in common. */
public final class Failures {

    private Failures() {}

    /** Why the handshake with {@code peer} failed. Nothing else was fired, and the connection is closed. */
    public static ZMTPException failureOf(ScriptedPeer peer) {
        return failureOf(peer.channel, peer.all);
    }

    /** As {@link #failureOf(ScriptedPeer)}, where both sides are codecs. */
    public static ZMTPException failureOf(CodecPair.Side end) {
        return failureOf(end.channel, end.all);
    }

    /** As {@link #failureOf(ScriptedPeer)}, where {@code all} has everything that was fired. */
    public static ZMTPException failureOf(Channel channel, List<Object> all) {
        assertThat(channel.isOpen()).isFalse();
        assertThat(all).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
        return (ZMTPException) ((ZMTPHandshakeFailure) all.get(0)).cause();
    }

    public static void assertMalformed(ScriptedPeer peer) {
        assertFailed(peer, ZMTPException.Code.MALFORMED);
    }

    public static void assertTooLarge(ScriptedPeer peer) {
        assertFailed(peer, ZMTPException.Code.TOO_LARGE);
    }

    /** The connection has ended with exactly one failure, which has this {@code code}. */
    public static void assertFailed(ScriptedPeer peer, ZMTPException.Code code) {
        assertThat(peer.failures)
                .singleElement()
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(code));
        assertThat(peer.channel.isActive()).isFalse();
    }
}
