package dev.zmtp.internal.connection;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** One line a frame: direction, version, flags, length, first bytes. */
class FrameLogTest {

    /** What is logged of the traffic that {@code exchange} makes, each line from its direction on. */
    private static List<String> logged(InTraffic setup, Consumer<ScriptedPeer> exchange) {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog");
                ScriptedPeer peer = setup.start()) {
            log.lines.clear();
            exchange.accept(peer);
            peer.channel.releaseOutbound();
            return log.lines.stream()
                    .map(line -> line.substring(line.indexOf("] ") + 2))
                    .toList();
        }
    }

    @Test
    void aReceivedFrameIsOneLine() {
        assertThat(logged(InTraffic.as(DEALER), peer -> peer.send("01 05 \"hello\" 00 00 04 07 04 \"PING\" 00 00")))
                .containsExactly(
                        "<< ZMTP31 MORE 5 68656c6c6f",
                        "<< ZMTP31 - 0 ",
                        "<< ZMTP31 COMMAND 7 0450494e470000",
                        ">> ZMTP31 COMMAND 5 04504f4e47");
    }

    @Test
    void aSentFrameIsOneLineWhenItIsHandedToTheTransport() {
        assertThat(logged(InTraffic.as(DEALER).peer(ZMTPVersion.ZMTP20), peer -> {
                    peer.channel.write(ZMTPMessage.fromUTF8("a", "bc"));
                    peer.channel.flush();
                }))
                .containsExactly(">> ZMTP20 MORE 1 61", ">> ZMTP20 - 2 6263");
    }

    @Test
    void ofALongBodyTheFirstBytesAreShown() {
        assertThat(logged(InTraffic.as(DEALER), peer -> {
                    peer.channel.writeAndFlush(
                            ZMTPMessage.from(Hex.buffer("61*200"), Hex.buffer("62*5000"), Hex.buffer("63")));
                    peer.send("02 00*6 20 00 64*20");
                }))
                .containsExactly(
                        ">> ZMTP31 MORE 200 " + "61".repeat(16) + "..",
                        ">> ZMTP31 MORE 5000 " + "62".repeat(16) + "..",
                        ">> ZMTP31 - 1 63",
                        "<< ZMTP31 - 8192 " + "64".repeat(16) + "..");
    }

    @Test
    void aFrameOfZmtp10IsShownWithoutItsFlagsByte() {
        assertThat(logged(InTraffic.as(PUB).peer(ZMTPVersion.ZMTP10), peer -> {
                    peer.channel.write(ZMTPMessage.fromUTF8("a"));
                    peer.channel.flush();
                }))
                .containsExactly(">> ZMTP10 - 1 61");
    }

    @Test
    void ofACommandOfTheHandshakeOnlyTheNameIsShown() {
        ZMTPCodec client = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.PUSH)
                .mechanism(ZMTPPlain.client("u", "pw"))
                .build();
        ZMTPCodec server = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.PULL)
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswordAuthenticator.of(Map.of("u", "pw")))
                .build();
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog");
                CodecPair peers = new CodecPair(client, server)) {
            peers.exchange();
            List<String> lines = log.lines.stream()
                    .map(line -> line.substring(line.indexOf("] ") + 2))
                    .toList();
            for (String direction : List.of(">>", "<<")) {
                assertThat(lines)
                        .filteredOn(line -> line.startsWith(direction))
                        .containsExactlyInAnyOrder(
                                direction + " ZMTP31 COMMAND 11 HELLO",
                                direction + " ZMTP31 COMMAND 8 WELCOME",
                                direction + " ZMTP31 COMMAND 29 INITIATE",
                                direction + " ZMTP31 COMMAND 26 READY");
            }
        }
    }

    @Test
    void nothingIsLoggedBelowTrace() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start();
                CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog")) {
            peer.send("00 01 61");
            assertThat(log.lines).isEmpty();
        }
    }
}
