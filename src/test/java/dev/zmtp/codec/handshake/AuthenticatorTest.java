package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.Failures.failureOf;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.security.ZMTPAddressAuthenticator;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.ToyMechanism;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which peers are accepted: with NULL, and by the ready-made authenticators (RFC 27). */
class AuthenticatorTest {

    private static ScriptedPeer peerOf(ZMTPAuthenticator authenticator) {
        return new ScriptedPeer(ZMTPCodec.builder()
                .socketType(ROUTER)
                .authenticator(authenticator)
                .build());
    }

    private static ZMTPAuthRequest request(@Nullable SocketAddress address, String mechanism, byte[]... credentials) {
        List<ByteBuffer> bytes =
                List.of(credentials).stream().map(ByteBuffer::wrap).toList();
        return new ZMTPAuthRequest("", address, ByteBuffer.allocate(0), mechanism, bytes, List.of(), null);
    }

    private static ZMTPAuthDecision decision(ZMTPAuthenticator authenticator, ZMTPAuthRequest request) {
        return authenticator.authenticate(request).toCompletableFuture().join();
    }

    // With NULL

    @Test
    void withNullTheAuthenticatorIsAskedBeforeOurReady() {
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        try (ScriptedPeer peer = peerOf(request -> answer)) {
            peer.send(GREETING + ready("DEALER"));
            assertThat(peer.received()).doesNotContain(Hex.of("05 \"READY\""));
            assertThat(peer.events).isEmpty();

            ZMTPMetadata known = ZMTPMetadata.EMPTY.with("Team", "blue");
            answer.complete(ZMTPAuthDecision.accept("someone", known));
            peer.channel.runPendingTasks();
            assertThat(peer.received()).contains(Hex.of("05 \"READY\""));
            ZMTPSession session = peer.onlyEvent(ZMTPHandshakeSuccess.class).session();
            assertThat(session.userId()).isEqualTo("someone");
            assertThat(session.decision()).isEqualTo(ZMTPAuthDecision.accept("someone", known));
        }
    }

    @Test
    void aPeerThatDoesNotWaitForTheDecisionIsRefused() {
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        try (ScriptedPeer peer = peerOf(request -> answer)) {
            peer.send(GREETING + ready("DEALER") + "00"); // the first byte of a message
            answer.complete(ZMTPAuthDecision.accept(""));
            peer.channel.runPendingTasks();
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.UNEXPECTED);
        }
    }

    @ParameterizedTest
    @CsvSource({"400, true", "500, true", "300, false"})
    void aRefusedPeerGetsTheStatusAndNoReason(int status, boolean sent) {
        ZMTPAuthDecision decision = switch (status) {
            case 400 -> ZMTPAuthDecision.deny("secret reason");
            case 500 -> ZMTPAuthDecision.error("secret reason");
            default -> ZMTPAuthDecision.temporaryFailure("secret reason");
        };
        try (ScriptedPeer peer = peerOf(request -> CompletableFuture.completedStage(decision))) {
            peer.send(GREETING);
            String error = Hex.of("04 0a 05 \"ERROR\" 03 \"" + status + "\"");
            String received = peer.received();
            assertThat(received.endsWith(error)).isEqualTo(sent);
            assertThat(received).doesNotContain(Hex.of("\"READY\"")).doesNotContain(Hex.of("\"secret\""));
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.AUTHENTICATION);
            assertThat(failureOf(peer)).hasMessageStartingWith("authentication: " + status + ", secret reason");
        }
    }

    @Test
    void withoutAnAuthenticatorNobodyHasAUserId() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(ROUTER)).send(GREETING + ready("DEALER"))) {
            ZMTPSession session = peer.onlyEvent(ZMTPHandshakeSuccess.class).session();
            assertThat(session.userId()).isEmpty();
            assertThat(session.decision()).isNull();
        }
    }

    @Test
    void theUserIdIsNotKnownBeforeTheEndOfTheHandshake() {
        ZMTPSession session =
                ZMTPSession.from(ZMTPConfig.builder().socketType(DEALER).build());
        assertThatThrownBy(session::userId).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(session::decision).isInstanceOf(IllegalStateException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"01 00", SIGNATURE + "00 05 00 00", SIGNATURE + "01 05 00 00"})
    void withAnAuthenticatorOldPeersAreRefused(String greeting) {
        try (ScriptedPeer peer = peerOf(ZMTPAuthenticator.acceptAll()).send(greeting)) {
            assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
        }
    }

    @Test
    void afterAProxyTheAddressIsTheOneThatTheProxyReported() {
        InetSocketAddress reported = InetSocketAddress.createUnresolved("client.example", 7);
        ScriptedPeer peer = peerOf(
                request -> CompletableFuture.completedStage(ZMTPAuthDecision.deny("from " + request.peerAddress())));
        try (peer) {
            peer.channel.attr(ZMTPCodec.PEER_ADDRESS).set(reported);
            peer.send(GREETING);
            assertThat(failureOf(peer))
                    .hasMessageStartingWith("authentication: 400, from " + reported)
                    .hasMessageEndingWith(", peer " + reported);
        }
    }

    // Ready-made

    @ParameterizedTest
    @CsvSource({
        "192.0.2.7, 192.0.2.7, true",
        "192.0.2.7, 192.0.2.8, false",
        "192.0.2.7/32, 192.0.2.7, true",
        "::ffff:192.0.2.7, 192.0.2.7, true",
        "::ffff:192.0.2.0/120, 192.0.2.7, true",
        "::ffff:192.0.2.0/120, 192.0.3.7, false",
        "192.0.2.7/32, 192.0.2.6, false",
        "::1/128, ::1, true",
        "::1/128, ::0, false",
        "192.0.2.0/24, 192.0.2.255, true",
        "192.0.2.0/24, 192.0.3.0, false",
        "192.0.2.128/25, 192.0.2.127, false",
        "192.0.2.128/25, 192.0.2.128, true",
        "0.0.0.0/0, 203.0.113.9, true",
        "0.0.0.0/0, 2001:db8::1, false",
        "2001:db8::/33, 2001:db8:7fff::1, true",
        "2001:db8::/33, 2001:db8:8000::1, false",
        "::1, ::1, true"
    })
    void anAddressIsComparedByTheBitsOfTheNetwork(String known, String address, boolean accepted) {
        ZMTPAddressAuthenticator addresses = ZMTPAddressAuthenticator.of(List.of("198.51.100.1", known));
        ZMTPAuthRequest request = request(new InetSocketAddress(address, 1), "NULL");
        assertThat(decision(addresses, request).status())
                .isEqualTo(accepted ? ZMTPAuthDecision.Status.ACCEPTED : ZMTPAuthDecision.Status.DENIED);
    }

    @Test
    void aPeerWithoutAnIpAddressIsDenied() {
        ZMTPAddressAuthenticator everyone = ZMTPAddressAuthenticator.of(List.of("0.0.0.0/0", "::/0"));
        assertThat(decision(everyone, request(null, "NULL")).status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(decision(everyone, request(UnixDomainSocketAddress.of("/run/x"), "NULL")))
                .isEqualTo(ZMTPAuthDecision.deny("address /run/x"));
        assertThat(decision(everyone, request(InetSocketAddress.createUnresolved("x", 1), "NULL"))
                        .status())
                .isEqualTo(ZMTPAuthDecision.Status.DENIED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"host.example", "192.0.2", "192.0.2.0/33", "::/129", "192.0.2.0/", "192.0.2.0/-1", ""})
    void anInvalidAddressIsRefused(String address) {
        assertThatThrownBy(() -> ZMTPAddressAuthenticator.of(List.of(address)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("address: " + address + " (expected: ");
    }

    @Test
    void aUserIsAcceptedOnlyWithItsPassword() {
        ZMTPPasswordAuthenticator passwords = ZMTPPasswordAuthenticator.of(Map.of("a", "1", "b", ""));
        assertThat(plain(passwords, "a", "1")).isEqualTo(ZMTPAuthDecision.accept("a"));
        assertThat(plain(passwords, "b", "")).isEqualTo(ZMTPAuthDecision.accept("b"));
        assertThat(plain(passwords, "a", "").status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(plain(passwords, "b", "1").status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(plain(passwords, "c", "1").status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(decision(passwords, request(null, "NULL")))
                .isEqualTo(ZMTPAuthDecision.deny("no password, but NULL"));
        assertThat(passwords.toString()).isEqualTo("ZMTPPasswordAuthenticator{2 users}");
    }

    private static ZMTPAuthDecision plain(ZMTPAuthenticator passwords, String user, String password) {
        return decision(
                passwords,
                request(
                        null,
                        "PLAIN",
                        user.getBytes(StandardCharsets.UTF_8),
                        password.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aKeyIsComparedByItsBytes() {
        ZMTPCurvePublicKey known = ZMTPCurvePublicKey.of(Hex.bytes("01*32"));
        ZMTPPublicKeyAuthenticator keys = ZMTPPublicKeyAuthenticator.of(Map.of(known, "someone"));
        assertThat(decision(keys, request(null, "CURVE", Hex.bytes("01*32"))))
                .isEqualTo(ZMTPAuthDecision.accept("someone"));
        assertThat(decision(keys, request(null, "CURVE", Hex.bytes("01*31 02"))).status())
                .isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(decision(keys, request(null, "NULL"))).isEqualTo(ZMTPAuthDecision.deny("no key, but NULL"));
        assertThat(decision(ZMTPPublicKeyAuthenticator.of(List.of(known)), request(null, "CURVE", Hex.bytes("01*32"))))
                .isEqualTo(ZMTPAuthDecision.accept(known.z85()));
    }

    @Test
    void aKeyMayBeGivenTwice() {
        ZMTPCurvePublicKey key = ZMTPCurvePublicKey.of(Hex.bytes("01*32"));
        ZMTPPublicKeyAuthenticator keys = ZMTPPublicKeyAuthenticator.of(List.of(key, key));
        assertThat(decision(keys, request(null, "CURVE", key.bytes()))).isEqualTo(ZMTPAuthDecision.accept(key.z85()));
    }

    @Test
    void anAuthenticatorCannotChangeWhatItIsAskedAbout() {
        ByteBuffer identity = ByteBuffer.wrap(new byte[] {'m', 'e'});
        ByteBuffer credential = ByteBuffer.wrap(new byte[] {'a'});
        ZMTPAuthRequest request =
                new ZMTPAuthRequest("", null, identity, "PLAIN", List.of(credential), List.of(), null);
        assertThat(request.identity().isReadOnly()).isTrue();
        assertThat(request.credentials()).allMatch(ByteBuffer::isReadOnly);
        request.identity().get();
        request.credentials().get(0).get();
        assertThat(request.identity().remaining()).isEqualTo(2);
        assertThat(request.credentials().get(0).remaining()).isEqualTo(1);
    }

    @Test
    void aDecisionAfterTheEndOfTheHandshakeIsDropped() {
        CompletableFuture<ZMTPAuthDecision> answer = new CompletableFuture<>();
        List<ZMTPAuthDecision> answers = new ArrayList<>();
        ZMTPMechanism.Factory mechanism = context -> {
            context.authenticate("TOY", ByteBuffer.allocate(0), List.of(), answers::add);
            return ToyMechanism.server(context, (password, yes) -> {});
        };
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.builder()
                .socketType(ROUTER)
                .mechanism(mechanism)
                .authenticator(request -> answer)
                .build())) {
            peer.channel.close();
            answer.complete(ZMTPAuthDecision.accept("too late"));
            peer.channel.runPendingTasks();
            assertThat(answers).isEmpty();
        }
    }

    @Test
    void acceptedPeersCanBeReplaced() {
        InetSocketAddress address = new InetSocketAddress("192.0.2.7", 1);
        ZMTPAddressAuthenticator addresses = ZMTPAddressAuthenticator.of(List.of());
        assertThat(decision(addresses, request(address, "NULL")).status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        addresses.replace(List.of("192.0.2.7"));
        assertThat(decision(addresses, request(address, "NULL"))).isEqualTo(ZMTPAuthDecision.accept(""));

        ZMTPPasswordAuthenticator passwords = ZMTPPasswordAuthenticator.of(Map.of("a", "1"));
        passwords.replace(Map.of("a", "2"));
        assertThat(plain(passwords, "a", "1").status()).isEqualTo(ZMTPAuthDecision.Status.DENIED);
        assertThat(plain(passwords, "a", "2")).isEqualTo(ZMTPAuthDecision.accept("a"));

        ZMTPCurvePublicKey key = ZMTPCurvePublicKey.of(Hex.bytes("01*32"));
        ZMTPPublicKeyAuthenticator keys = ZMTPPublicKeyAuthenticator.of(List.of(key));
        keys.replace(List.of());
        assertThat(decision(keys, request(null, "CURVE", key.bytes())).status())
                .isEqualTo(ZMTPAuthDecision.Status.DENIED);
        keys.replace(Map.of(key, "b"));
        assertThat(decision(keys, request(null, "CURVE", key.bytes()))).isEqualTo(ZMTPAuthDecision.accept("b"));
    }

    @Test
    void theSecondOfTwoAuthenticatorsIsAskedAboutPeersTheFirstAccepts() {
        ZMTPAuthenticator both =
                ZMTPAddressAuthenticator.of(List.of("192.0.2.7")).and(ZMTPPasswordAuthenticator.of(Map.of("a", "1")));
        byte[][] right = {{'a'}, {'1'}};
        byte[][] wrong = {{'a'}, {'2'}};
        InetSocketAddress known = new InetSocketAddress("192.0.2.7", 1);
        InetSocketAddress unknown = new InetSocketAddress("192.0.2.8", 1);
        assertThat(decision(both, request(known, "PLAIN", right))).isEqualTo(ZMTPAuthDecision.accept("a"));
        assertThat(decision(both, request(known, "PLAIN", wrong)).text()).contains("password");
        assertThat(decision(both, request(unknown, "PLAIN", right)).text()).contains("192.0.2.8");
    }
}
