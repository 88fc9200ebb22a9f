package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException.Code;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PLAIN, byte by byte, on both sides (RFC 24). */
class PlainTest {

    private static final String PLAIN = "\"PLAIN\" 00*15 ";
    private static final String GREETING = SIGNATURE + "03 01 " + PLAIN + "00 00*31 ";

    private static final String HELLO = "04 13 05 \"HELLO\" 05 \"admin\" 06 \"secret\" ";
    private static final String WELCOME = "04 08 07 \"WELCOME\" ";
    private static final String INITIATE =
            "04 2c 08 \"INITIATE\" 0b \"Socket-Type\" 00000006 \"DEALER\" 08 \"Identity\" 00000000 ";
    private static final String READY =
            "04 29 05 \"READY\" 0b \"Socket-Type\" 00000006 \"ROUTER\" 08 \"Identity\" 00000000 ";

    private static ZMTPConfig.Builder client() {
        return ZMTPConfig.builder().socketType(DEALER).mechanism(ZMTPPlain.client("admin", "secret"));
    }

    private static ZMTPConfig.Builder server() {
        return ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPPlain.server())
                .authenticator(ZMTPPasswordAuthenticator.of(Map.of("admin", "secret", "guest", "")));
    }

    /** A scripted peer of ours, after the greetings. */
    private static ScriptedPeer greeted(ZMTPConfig.Builder config) {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build())).send(GREETING);
        assertThat(peer.received()).startsWith(Hex.of(SIGNATURE + "03 01 " + PLAIN));
        return peer;
    }

    @Test
    void theGreetingHasTheAsServerBitOfTheServer() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(server().build())).send(SIGNATURE + "03")) {
            assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE + "03 01 " + PLAIN + "01 00*31"));
        }
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(client().build())).send(SIGNATURE + "03")) {
            assertThat(peer.received()).isEqualTo(Hex.of(SIGNATURE + "03 01 " + PLAIN + "00 00*31"));
        }
    }

    @Test
    void theClientSendsOneCommandAfterTheOther() {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(client().build())).send(GREETING);
        try (peer) {
            assertThat(peer.received()).endsWith(Hex.of(HELLO));
            peer.send(WELCOME);
            assertThat(peer.received()).isEqualTo(Hex.of(INITIATE));
            peer.send(READY + "00 01 61");
            ZMTPHandshake handshake = peer.onlyEvent(ZMTPHandshakeSuccess.class).handshake();
            assertThat(handshake.mechanism()).isEqualTo("PLAIN");
            assertThat(handshake.remoteSocketType()).isEqualTo(ROUTER);
            assertThat(peer.messages).containsExactly(message("a"));
        }
    }

    @Test
    void theServerSendsOneCommandAfterTheOther() {
        try (ScriptedPeer peer = greeted(server())) {
            peer.send(HELLO);
            assertThat(peer.received()).isEqualTo(Hex.of(WELCOME));
            peer.send(INITIATE + "00 01 61");
            assertThat(peer.received()).isEqualTo(Hex.of(READY));
            ZMTPHandshakeSuccess success = peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(success.handshake().mechanism()).isEqualTo("PLAIN");
            assertThat(success.session().userId()).isEqualTo("admin");
            assertThat(peer.messages).containsExactly(message("a"));
        }
    }

    @Test
    void aPasswordMayBeEmpty() {
        try (ScriptedPeer peer = greeted(server()).send("04 0d 05 \"HELLO\" 05 \"guest\" 00")) {
            assertThat(peer.received()).isEqualTo(Hex.of(WELCOME));
        }
    }

    @Test
    void twoSidesShakeHands() {
        try (CodecPair peers =
                new CodecPair(ZMTPCodec.from(client().build()), ZMTPCodec.from(server().build())).exchange()) {
            assertThat(peers.left.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "04 13 05 \"HELLO\" 05 \"admin\" 06 \"Secret\"",
                "04 13 05 \"HELLO\" 05 \"Admin\" 06 \"secret\"",
                "04 0d 05 \"HELLO\" 05 \"admin\" 00",
                "04 08 05 \"HELLO\" 00 00"
            })
    void aPeerWithTheWrongPasswordGetsTheStatusAndNoReason(String hello) {
        try (ScriptedPeer peer = greeted(server()).send(hello)) {
            assertThat(peer.received()).isEqualTo(Hex.of("04 0a 05 \"ERROR\" 03 \"400\""));
            assertThat(failureOf(peer).code()).isEqualTo(Code.AUTHENTICATION);
            assertThat(failureOf(peer))
                    .hasMessageStartingWith("authentication: 400, unknown user or wrong password (expected: 200)")
                    .hasMessageNotContaining("ecret");
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "the user name is longer than the rest, 04 0a 05 \"HELLO\" 05 \"adm\"",
        "no password, 04 0c 05 \"HELLO\" 05 \"admin\"",
        "no user name, 04 06 05 \"HELLO\"",
        "the password is longer than the rest, 04 12 05 \"HELLO\" 05 \"admin\" 06 \"secre\"",
        "a byte after the password, 04 14 05 \"HELLO\" 05 \"admin\" 06 \"secret\" 00"
    })
    void aHelloOfTheWrongLengthIsRefusedInSilence(String name, String hello) {
        try (ScriptedPeer peer = greeted(server()).send(hello)) {
            assertThat(peer.received()).isEmpty();
            assertThat(failureOf(peer).code()).isEqualTo(Code.MALFORMED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {INITIATE, READY, WELCOME, "04 05 04 \"PONG\"", "04 06 05 \"OTHER\""})
    void anyCommandButHelloIsRefused(String first) {
        try (ScriptedPeer peer = greeted(server()).send(first)) {
            assertThat(peer.received()).isEmpty();
            assertThat(failureOf(peer).code()).isEqualTo(Code.UNEXPECTED);
        }
    }

    @Test
    void aCommandAfterHelloIsRefusedBeforeTheDecision() {
        try (ScriptedPeer peer = greeted(server().authenticator(request -> new CompletableFuture<>()))) {
            peer.send(HELLO + INITIATE);
            assertThat(peer.received()).isEmpty();
            assertThat(failureOf(peer)).hasMessageStartingWith("command: INITIATE (expected: none in AWAIT_DECISION)");
        }
    }

    @Test
    void aCommandInOneReadWithHelloIsRefused() {
        try (ScriptedPeer peer = greeted(server()).send(HELLO + INITIATE)) {
            assertThat(failureOf(peer)).hasMessageStartingWith("bytes after a command: 46 (expected: 0 before");
        }
        try (ScriptedPeer peer = greeted(client()).send(WELCOME + READY)) {
            assertThat(failureOf(peer)).hasMessageStartingWith("bytes after a command: 43 (expected: 0 before");
        }
    }

    @Test
    void withoutAnAuthenticatorEveryPeerIsRefused() {
        ZMTPConfig unchecked = ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(context -> ZMTPPlain.server().create(context)) // a wrapper may skip check()
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(unchecked)).send(GREETING + HELLO)) {
            assertThat(failureOf(peer)).hasMessageStartingWith("authentication: 500, there is no authenticator");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {READY, HELLO, INITIATE, "04 09 07 \"WELCOME\" 00"})
    void theClientAcceptsOnlyWelcome(String first) {
        try (ScriptedPeer peer = greeted(client()).send(first)) {
            assertThat(failureOf(peer).code()).isIn(Code.UNEXPECTED, Code.MALFORMED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"04 0a 05 \"ERROR\" 03 \"400\"", "04 09 5e \"RROR\" 03 \"400\""})
    void theClientUnderstandsBothSpellingsOfARefusal(String error) {
        for (String before : new String[] {"", WELCOME}) {
            try (ScriptedPeer peer = greeted(client()).send(before).send(error)) {
                assertThat(failureOf(peer).code()).isEqualTo(Code.PEER_ERROR);
                assertThat(failureOf(peer)).hasMessageStartingWith("refused by the peer: 400");
            }
        }
    }

    @Test
    void aPeerWithTheWrongSocketTypeGetsTheReason() {
        try (ScriptedPeer peer = greeted(server()).send(HELLO)) {
            peer.received();
            peer.send(command("08 \"INITIATE\" 0b \"Socket-Type\" 00000003 \"PUB\""));
            assertThat(peer.received()).contains(Hex.of("05 \"ERROR\""));
            assertThat(failureOf(peer).code()).isEqualTo(Code.SOCKET_TYPE);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPVersion.class,
            names = {"ZMTP10", "ZMTP20"})
    void oldPeersAreRefused(ZMTPVersion version) {
        String greeting = version == ZMTPVersion.ZMTP10 ? "01 00" : SIGNATURE + "01 05 00 00";
        for (ZMTPConfig.Builder config : List.of(client(), server())) {
            try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build())).send(greeting)) {
                assertThat(failureOf(peer).code()).isEqualTo(Code.VERSION);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"NULL\" 00*16", "\"CURVE\" 00*15", "\"PLAIN\" 00*14 01", "\"plain\" 00*15"})
    void anotherMechanismIsRefused(String theirs) {
        for (ZMTPConfig.Builder config : List.of(client(), server())) {
            ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build()));
            try (peer) {
                peer.send(SIGNATURE + "03 01 " + theirs + " 00*32");
                assertThat(failureOf(peer).code()).isEqualTo(Code.MECHANISM);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"DENIED, 400", "ERROR, 500"})
    void aRefusalIsSentAsItsStatus(ZMTPAuthDecision.Status status, String reason) {
        ZMTPAuthenticator authenticator = request -> CompletableFuture.completedStage(
                status == ZMTPAuthDecision.Status.DENIED
                        ? ZMTPAuthDecision.deny("no")
                        : ZMTPAuthDecision.error("broken"));
        try (ScriptedPeer peer = greeted(server().authenticator(authenticator)).send(HELLO)) {
            assertThat(peer.received()).isEqualTo(Hex.of("04 0a 05 \"ERROR\" 03 \"" + reason + "\""));
            assertThat(failureOf(peer)).hasMessageStartingWith("authentication: " + reason);
        }
    }

    @Test
    void aTemporaryFailureSendsNothing() {
        ZMTPAuthenticator busy = request -> CompletableFuture.completedStage(ZMTPAuthDecision.temporaryFailure("busy"));
        try (ScriptedPeer peer = greeted(server().authenticator(busy)).send(HELLO)) {
            assertThat(peer.received()).isEmpty();
            assertThat(failureOf(peer)).hasMessageStartingWith("authentication: 300, busy (expected: 200)");
        }
    }

    static List<ZMTPAuthenticator> broken() {
        return List.of(
                request -> {
                    throw new IllegalStateException("broken");
                },
                request -> null,
                request -> CompletableFuture.completedStage(null),
                request -> CompletableFuture.failedStage(new IllegalStateException("broken")));
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.MethodSource("broken")
    void aBrokenAuthenticatorRefusesThePeerWithAnError(ZMTPAuthenticator authenticator) {
        try (ScriptedPeer peer = greeted(server().authenticator(authenticator)).send(HELLO)) {
            assertThat(peer.received()).isEqualTo(Hex.of("04 0a 05 \"ERROR\" 03 \"500\""));
            assertThat(failureOf(peer).code()).isEqualTo(Code.AUTHENTICATION);
        }
    }

    @Test
    void aBrokenAuthenticatorDoesNotLetPeersFillTheLog() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.MechanismContext")) {
            long start = System.nanoTime();
            for (int i = 0; i < 50; i++) {
                greeted(server().authenticator(request -> {
                            throw new IllegalStateException("broken");
                        }))
                        .send(HELLO)
                        .close();
            }
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
            assertThat(log.lines).hasSizeBetween(0, (int) seconds + 2);
            assertThat(log.traces).hasSizeLessThanOrEqualTo(1);
        }
    }

    @Test
    void theAuthenticatorMayAnswerLaterFromAnyThread() throws Exception {
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        try (ScriptedPeer peer =
                greeted(server().authenticator(request -> answer)).send(HELLO)) {
            assertThat(peer.received()).isEmpty();
            Thread elsewhere = new Thread(() -> answer.complete(ZMTPAuthDecision.accept("someone")));
            elsewhere.start();
            elsewhere.join();
            peer.channel.runPendingTasks();
            assertThat(peer.received()).isEqualTo(Hex.of(WELCOME));
            peer.send(INITIATE);
            assertThat(peer.onlyEvent(ZMTPHandshakeSuccess.class).session().userId())
                    .isEqualTo("someone");
        }
    }

    @Test
    void theHandshakeTimeoutIncludesTheAuthenticator() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        peer.channel
                .pipeline()
                .addFirst(ZMTPCodec.from(server().authenticator(request -> answer)
                        .handshakeTimeout(Duration.ofSeconds(2))
                        .build()));
        try (peer) {
            peer.send(GREETING + HELLO);
            peer.channel.advanceTimeBy(2, TimeUnit.SECONDS);
            peer.channel.runScheduledPendingTasks();
            assertThat(failureOf(peer).code()).isEqualTo(Code.HANDSHAKE_TIMEOUT);
            answer.complete(ZMTPAuthDecision.accept("too late"));
            peer.channel.runPendingTasks();
            assertThat(peer.events).hasSize(1);
        }
    }

    @Test
    void theAuthenticatorIsAskedOnceAndThePasswordIsWipedAfterwards() {
        List<ZMTPAuthRequest> asked = new ArrayList<>();
        List<String> passwords = new ArrayList<>();
        ZMTPAuthenticator authenticator = request -> {
            asked.add(request);
            passwords.add(StandardCharsets.UTF_8.decode(request.password()).toString());
            return CompletableFuture.completedStage(ZMTPAuthDecision.accept(""));
        };
        try (ScriptedPeer peer = greeted(server().authenticator(authenticator).domain("global"))
                .send(HELLO)
                .send(INITIATE)) {
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(passwords).containsExactly("secret");
            assertThat(asked).singleElement().satisfies(request -> {
                assertThat(request.domain()).isEqualTo("global");
                assertThat(request.mechanism()).isEqualTo("PLAIN");
                assertThat(request.userName()).isEqualTo("admin");
                assertThat(request.peerAddress()).isEqualTo(peer.channel.remoteAddress());
                assertThat(request.identity()).isEqualTo(ByteBuffer.allocate(0));
                assertThat(request.publicKey()).isNull();
                assertThat(request.peerCertificates()).isEmpty();
                assertThat(request.password()).isEqualTo(ByteBuffer.allocate(6));
                assertThat(request.toString()).contains("user admin").doesNotContain("secret");
            });
        }
    }

    @Test
    void settingsThatConflictAreRefusedWhenTheConfigIsBuilt() {
        assertThatThrownBy(() -> ZMTPConfig.builder()
                        .socketType(ROUTER)
                        .mechanism(ZMTPPlain.server())
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("authenticator: none (expected: one for a PLAIN server");
        assertThatThrownBy(() ->
                        client().authenticator(ZMTPAuthenticator.acceptAll()).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("authenticator: set (expected: none for a PLAIN client");
        for (ZMTPVersion old : List.of(ZMTPVersion.ZMTP10, ZMTPVersion.ZMTP20)) {
            assertThatThrownBy(() -> client().protocol(old).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("with PLAIN");
            assertThatThrownBy(() -> ZMTPConfig.builder()
                            .socketType(ROUTER)
                            .authenticator(ZMTPAuthenticator.acceptAll())
                            .protocol(old)
                            .build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("with an authenticator");
        }
    }

    @Test
    void credentialsHaveAtMost255Bytes() {
        assertThat(ZMTPPlain.client("u".repeat(255), "p".repeat(255))).isNotNull();
        assertThatThrownBy(() -> ZMTPPlain.client("u".repeat(256), "p"))
                .hasMessage("user name length: 256 bytes (expected: <= 255)");
        assertThatThrownBy(() -> ZMTPPlain.client("u", "ä".repeat(128)))
                .hasMessage("password length: 256 bytes (expected: <= 255)");
    }
}
