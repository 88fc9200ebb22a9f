package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The example of {@code docs/writing-a-mechanism.md}, at work. */
class TokenMechanismTest {

    private static final String GREETING = SIGNATURE + "03 01 \"TOKEN\" 00*15 00 00*31 ";
    private static final ByteBuffer KNOWN = ByteBuffer.wrap(token("open sesame"));

    private final List<ByteBuffer> asked = new ArrayList<>();
    private final CompletableFuture<ZMTPAuthDecision> later = new CompletableFuture<>();

    private static byte[] token(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static ZMTPCodec client(String token) {
        return ZMTPCodec.from(ZMTPConfig.builder()
                .socketType(DEALER)
                .mechanism(TokenMechanism.client(token(token)))
                .build());
    }

    private ZMTPCodec server() {
        return ZMTPCodec.from(ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(TokenMechanism.server())
                .authenticator(request -> {
                    ByteBuffer token = request.credentials().get(0);
                    asked.add(token);
                    return CompletableFuture.completedStage(
                            token.equals(KNOWN)
                                    ? ZMTPAuthDecision.accept("ali baba")
                                    : ZMTPAuthDecision.deny("unknown"));
                })
                .build());
    }

    private static ZMTPException failure(List<Object> events) {
        assertThat(events).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
        return (ZMTPException) ((ZMTPHandshakeFailure) events.get(0)).cause();
    }

    @Test
    void aKnownTokenIsAcceptedAndWiped() {
        try (CodecPair peers = new CodecPair(client("open sesame"), server()).exchange()) {
            assertThat(peers.left.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            ZMTPHandshakeSuccess success = (ZMTPHandshakeSuccess) peers.right.events.get(0);
            assertThat(success.session().userId()).isEqualTo("ali baba");
            assertThat(success.handshake().mechanism()).isEqualTo("TOKEN");
            assertThat(success.handshake().remoteSocketType()).isEqualTo(DEALER);
            assertThat(asked).containsExactly(ByteBuffer.allocate(11)); // zeros
        }
    }

    @Test
    void anUnknownTokenIsRefusedAndTheClientLearnsTheStatus() {
        try (CodecPair peers = new CodecPair(client("open barley"), server()).exchange()) {
            assertThat(failure(peers.left.events)).hasMessageStartingWith("refused by the peer: 400");
            assertThat(failure(peers.right.events)).hasMessageStartingWith("token: unknown (expected: a known one)");
            assertThat(asked).containsExactly(ByteBuffer.allocate(11));
        }
    }

    @ParameterizedTest
    @CsvSource({"DENIED, 400", "ERROR, 500", "TEMPORARY_FAILURE,"})
    void theStatusOfTheDecisionChoosesTheError(ZMTPAuthDecision.Status status, String error) {
        ZMTPAuthDecision refusal = new ZMTPAuthDecision(status, "not now", "", ZMTPMetadata.EMPTY);
        ZMTPCodec refusing = ZMTPCodec.from(ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(TokenMechanism.server())
                .authenticator(request -> CompletableFuture.completedStage(refusal))
                .build());
        try (CodecPair peers = new CodecPair(client("open sesame"), refusing).exchange()) {
            assertThat(failure(peers.right.events).code()).isEqualTo(Code.AUTHENTICATION);
            if (error == null) {
                assertThat(failure(peers.left.events).code()).isNotEqualTo(Code.PEER_ERROR);
            } else {
                assertThat(failure(peers.left.events)).hasMessageStartingWith("refused by the peer: " + error);
            }
        }
    }

    @Test
    void aServerWithoutAnAuthenticatorIsRefused() {
        ZMTPConfig.Builder builder = ZMTPConfig.builder().socketType(ROUTER).mechanism(TokenMechanism.server());

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessage("authenticator: none (expected: one for a TOKEN server)");
    }

    @Test
    void theClientKeepsItsOwnCopyOfTheToken() {
        byte[] token = token("open sesame");
        ZMTPCodec client = ZMTPCodec.from(ZMTPConfig.builder()
                .socketType(DEALER)
                .mechanism(TokenMechanism.client(token))
                .build());
        Arrays.fill(token, (byte) 0);
        try (CodecPair peers = new CodecPair(client, server()).exchange()) {
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void theServerWaitsForALateDecision() {
        ZMTPCodec slow = ZMTPCodec.from(ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(TokenMechanism.server())
                .authenticator(request -> later)
                .build());
        try (CodecPair peers = new CodecPair(client("open sesame"), slow).exchange()) {
            assertThat(peers.right.events).isEmpty();
            later.complete(ZMTPAuthDecision.accept("ali baba"));
            peers.exchange();
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.left.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "no length, 05 \"HELLO\", MALFORMED",
        "half a length, 05 \"HELLO\" 00, MALFORMED",
        "longer than the command, 05 \"HELLO\" 00 04 \"abc\", MALFORMED",
        "longer than allowed, 05 \"HELLO\" 10 01 61*4097, MALFORMED",
        "another command, 05 \"OTHER\" 00 00, UNEXPECTED",
        "an error, 05 \"ERROR\" 02 \"no\", PEER_ERROR"
    })
    void aHelloThatIsWrongIsRefusedInSilence(String what, String hello, Code code) {
        try (ScriptedPeer peer = new ScriptedPeer(server()).send(GREETING)) {
            peer.received();
            peer.send(command(hello));
            assertThat(failure(peer.events).code()).isEqualTo(code);
            assertThat(peer.received()).isEmpty();
            assertThat(asked).isEmpty();
        }
    }

    @Test
    void theCommandsAreThoseOfThePage() {
        try (ScriptedPeer peer = new ScriptedPeer(client("abc")).send(GREETING)) {
            assertThat(peer.received())
                    .endsWith(Hex.of(command("05 \"HELLO\" 00 03 \"abc\" 0b \"Socket-Type\" 00000006 \"DEALER\""
                            + " 08 \"Identity\" 00000000")));
        }
    }
}
