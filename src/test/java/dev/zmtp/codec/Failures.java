package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.testing.InTraffic;

/** What every failure in traffic has in common. */
final class Failures {

    private Failures() {}

    static void assertMalformed(InTraffic traffic) {
        assertFailed(traffic, ZMTPException.Code.MALFORMED);
    }

    static void assertTooLarge(InTraffic traffic) {
        assertFailed(traffic, ZMTPException.Code.TOO_LARGE);
    }

    /** The connection has ended with exactly one failure, which says {@code code}. */
    static void assertFailed(InTraffic traffic, ZMTPException.Code code) {
        assertThat(traffic.failures)
                .singleElement()
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(code));
        assertThat(traffic.channel.isActive()).isFalse();
    }
}
