package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bounds of settings: the last value that is taken is so, and a duration may be any. */
class SettingsTest {

    private static final Duration MILLISECOND = Duration.ofMillis(1);

    @Test
    void aDurationIsCountedInNanosecondsUpToAllThereAre() {
        assertThat(Settings.nanos(Duration.ZERO)).isZero();
        assertThat(Settings.nanos(Duration.ofMillis(2))).isEqualTo(2_000_000);
        assertThat(Settings.nanos(Settings.FOREVER.minusNanos(1))).isEqualTo(Long.MAX_VALUE - 1);
        assertThat(Settings.nanos(Settings.FOREVER)).isEqualTo(Long.MAX_VALUE);
        assertThat(Settings.nanos(Settings.FOREVER.plusNanos(1))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whatIsOverIsOverHoweverLongAgo() {
        assertThat(Settings.nanos(Duration.ofNanos(-1))).isNegative();
        assertThat(Settings.nanos(Duration.ofSeconds(Long.MIN_VALUE))).isNegative();
    }

    @Test
    void theTimeToConnectIsUpToWhatTheTransportsCount() {
        Duration longest = Duration.ofMillis(Integer.MAX_VALUE);
        assertThat(ZMTPSocketConfig.builder(DEALER)
                        .connectTimeout(longest)
                        .build()
                        .connectTimeout())
                .isEqualTo(longest);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPSocketConfig.builder(DEALER).connectTimeout(longest.plusNanos(1)))
                .withMessageEndingWith("(expected: <= 24 days)");
    }

    @Test
    void theTimesBetweenAttemptsMayAllBeTheSame() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .reconnectDelay(MILLISECOND, MILLISECOND)
                .build();

        assertThat(config.initialReconnectDelay()).isEqualTo(MILLISECOND);
        assertThat(config.maxReconnectDelay()).isEqualTo(MILLISECOND);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, (1 << 22) - 1})
    void soManyRequestsMayBeOutstanding(int requests) {
        assertThat(ZMTPSocketConfig.builder(REQ)
                        .maxOutstandingRequests(requests)
                        .build()
                        .maxOutstandingRequests())
                .isEqualTo(requests);
    }

    /** The messages of a socket are {@code ZMTPMessage}s. */
    @Test
    void aSocketHasNeitherAnEncoderNorADecoder() {
        Consumer<ZMTPConfig.Builder> encoder = codec -> codec.encoder(context -> null);
        Consumer<ZMTPConfig.Builder> decoder = codec -> codec.decoder(context -> null);

        for (Consumer<ZMTPConfig.Builder> change : List.of(encoder, decoder)) {
            ZMTPConfig.Builder changed = ZMTPConfig.builder().socketType(DEALER);
            change.accept(changed);
            ZMTPConfig codec = changed.build();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ZMTPSocketConfig.builder(codec))
                    .withMessageEndingWith("(expected: one without an encoder and a decoder)");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ZMTPSocketConfig.builder(DEALER).codec(change))
                    .withMessageEndingWith("(expected: one without an encoder and a decoder)");
        }
    }

    @Test
    void aChangeOfTheProtocolIsOneOfTheSettingsThatWereThere() {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(DEALER)
                .codec(codec -> codec.maxFrameLength(300))
                .codec(codec -> codec.localIdentity("me"))
                .build();

        assertThat(config.codec().maxFrameLength()).isEqualTo(300);
        assertThat(config.codec().localIdentity().remaining()).isEqualTo(2);
    }
}
