package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.ToyMechanism;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The frame around a sealed one: what its header may say before the content is known. */
class SealedFramesTest {

    private static final String TOY = "\"TOY\" 00*17 00 00*31 ";

    private static ScriptedPeer ready(UnaryOperator<ZMTPConfig.Builder> settings) {
        ZMTPConfig config = settings.apply(ZMTPConfig.builder()
                        .socketType(ROUTER)
                        .mechanism(context -> ToyMechanism.server(context, (password, yes) -> yes.run())))
                .build();
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config));
        peer.send(ScriptedPeer.SIGNATURE + "03 01 " + TOY + ScriptedPeer.command("05 \"HELLO\" \"open\""));
        peer.send(
                ScriptedPeer.command("08 \"INITIATE\" 0b \"Socket-Type\" 000000 06 \"" + ZMTPSocketType.DEALER + '"'));
        assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
        peer.received();
        return peer;
    }

    /** A sealed frame, in a frame with {@code outer} flags. */
    private static String sealed(int outer, int inner, String body) {
        String sealed = Hex.dump(ToyMechanism.sealed(inner, body));
        return "%02x %02x %s ".formatted(outer, sealed.length() / 2, sealed);
    }

    // Flags

    @Test
    void theOuterFlagMoreIsIgnored() {
        try (ScriptedPeer peer = ready(config -> config)) {
            peer.send(sealed(1, 1, "61") + sealed(0, 1, "62") + sealed(0, 0, "63") + sealed(1, 0, "64"));
            assertThat(peer.messages).containsExactly(Fired.message("a", "b", "c"), Fired.message("d"));
        }
    }

    @Test
    void theOuterFlagCommandIsIgnored() {
        try (ScriptedPeer peer = ready(config -> config)) {
            peer.send(sealed(4, 4, "04 \"PING\" 0000 \"ctx\"") + sealed(4, 0, "61"));
            assertThat(peer.received()).isEqualTo(Hex.of(sealed(0, 4, "04 \"PONG\" \"ctx\"")));
            assertThat(peer.messages).containsExactly(Fired.message("a"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0x05, 0x08, 0x10, 0x20, 0x40, 0x80})
    void outerFlagsThatNoFrameMayHaveAreRefused(int outer) {
        try (ScriptedPeer peer = ready(config -> config)) {
            Failures.assertMalformed(peer.send(sealed(outer, 0, "61")));
        }
    }

    // Length. The toy cipher adds two bytes.

    @ParameterizedTest(name = "after {0} bytes a sealed frame of {1} bytes: refused {2}")
    @CsvSource({
        "10, 28, false", // 10, 64 for the next frame, and 26 are the 100
        "10, 29, true",
        "20, 18, false",
        "20, 19, true",
        "30, 10, false", // a command may be longer than what is left of the message
        "30, 11, true",
        "90, 10, false",
        "90, 11, true",
    })
    void insideAMessageTheRestOfTheMessageIsTheLimit(int before, int length, boolean refused) {
        try (ScriptedPeer peer =
                ready(config -> config.maxMessageLength(100).maxFrameLength(100).maxCommandLength(8))) {
            peer.send(sealed(0, 1, "61*" + before));
            peer.send("00 %02x".formatted(length));
            if (refused) {
                Failures.assertTooLarge(peer);
            } else {
                assertThat(peer.failures).isEmpty();
            }
        }
    }

    @ParameterizedTest(name = "a sealed frame of {0} bytes: refused {1}")
    @CsvSource({"72, false", "73, true"})
    void insideAMessageTheFrameLimitStillApplies(int length, boolean refused) {
        try (ScriptedPeer peer =
                ready(config -> config.maxMessageLength(1000).maxFrameLength(70).maxCommandLength(8))) {
            peer.send(sealed(0, 1, "61"));
            peer.send("00 %02x".formatted(length));
            assertThat(peer.failures).hasSize(refused ? 1 : 0);
        }
    }

    @Test
    void theNextMessageHasTheWholeLimitAgain() {
        try (ScriptedPeer peer =
                ready(config -> config.maxMessageLength(200).maxFrameLength(100).maxCommandLength(8))) {
            peer.send(sealed(0, 1, "61*90") + sealed(0, 0, "62*40") + sealed(0, 0, "63*100"));
            assertThat(peer.messages).hasSize(2);
            assertThat(peer.failures).isEmpty();
        }
    }
}
