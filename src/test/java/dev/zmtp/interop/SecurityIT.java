package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** PLAIN and CURVE: accepted peers exchange messages, others are refused, and both sides learn the reason. */
@Tag("netty-4.2-only") // long, and the same with any version of Netty
class SecurityIT {

    private static final int SOME = 5;

    /** Ten times what libzmq waits before it connects again. */
    private static final Duration RECONNECT = Duration.ofSeconds(1);

    /** Empty, short, and of more bytes than fit one read. */
    private static final ZMTPMessage MESSAGE = Messages.ofLengths(0, 5, 70_000);

    static List<Arguments> everyMechanism() {
        return Every.combinationOf(PeerKind.values(), Security.values(), Binder.values());
    }

    static ZMTPConfig.Builder ours(ZMTPSocketType type) {
        return ZMTPConfig.builder().socketType(type);
    }

    static ZMTPConfig.Builder ours() {
        return ours(ZMTPSocketType.DEALER);
    }

    /** Their server, with a ZAP handler that accepts only the client. */
    static void theirServer(PeerSocket socket, Security security) {
        security.server(socket);
        socket.zapHandler(request -> request.credentials().equals(security.credentials())
                ? ZapReply.accept(security.userId())
                : ZapReply.refuse(400));
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirClientIsAcceptedAndExchangesMessages(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.server(ours(), security.authenticator()).build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, security::client)) {
            ZMTPHandshake handshake = link.ours().handshake();
            assertThat(handshake.mechanism()).isEqualTo(security.name());
            assertThat(handshake.remoteSocketType()).isEqualTo(ZMTPSocketType.DEALER);
            assertThat(link.ours().session().userId()).isEqualTo(security.userId());

            talk(link);
            assertTheySucceeded(kind, link);
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirServerAcceptsUsAndExchangesMessages(PeerKind kind, Security security, Binder binder) {
        Queue<ZapRequest> requests = new ConcurrentLinkedQueue<>();
        ZMTPConfig config = security.client(ours()).build();
        try (InteropConnection link = new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, socket -> {
            security.server(socket);
            socket.zapHandler(request -> {
                requests.add(request);
                return ZapReply.accept("whoever");
            });
        })) {
            assertThat(link.ours().handshake().mechanism()).isEqualTo(security.name());
            assertThat(requests)
                    .containsExactly(
                            new ZapRequest(Security.DOMAIN, "127.0.0.1", "", security.name(), security.credentials()));
            assertThat(link.ours().session().userId()).isEmpty();

            talk(link);
            assertTheySucceeded(kind, link);
        }
    }

    static void talk(InteropConnection link) {
        for (int i = 0; i < SOME; i++) {
            link.ours().write(MESSAGE);
            link.theirs().send(MESSAGE);
        }
        for (int i = 0; i < SOME; i++) {
            assertThat(link.theirs().receive()).isEqualTo(MESSAGE);
            assertThat(link.ours().message()).isEqualTo(MESSAGE);
        }
    }

    private static void assertTheySucceeded(PeerKind kind, InteropConnection link) {
        if (kind == PeerKind.LIBZMQ) {
            assertThat(link.theirs().event()).isEqualTo(PeerEvent.of(PeerEvent.Kind.SUCCEEDED));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirUnknownClientIsDenied(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.server(ours(), security.authenticator()).build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, security::stranger)) {
            assertRefused(link, ZMTPException.Code.AUTHENTICATION, "authentication: 400");
            assertThat(link.theirs().event()).isEqualTo(refusedByUs(kind, security, 400));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirClientLearnsThatOurAuthenticatorIsBroken(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.server(ours(), always(ZMTPAuthDecision.error("broken")))
                .build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, security::client)) {
            assertRefused(link, ZMTPException.Code.AUTHENTICATION, "authentication: 500, broken");
            assertThat(link.theirs().event()).isEqualTo(refusedByUs(kind, security, 500));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirClientGetsNoErrorForATemporaryFailure(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.server(ours(), always(ZMTPAuthDecision.temporaryFailure("later")))
                .build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, security::client)) {
            assertRefused(link, ZMTPException.Code.AUTHENTICATION, "authentication: 300, later");
            assertThat(link.theirs().event()).isEqualTo(lost(kind));
        }
    }

    @ParameterizedTest
    @EnumSource
    void libzmqReconnectsAfterATemporaryFailure(Security security) {
        ConcurrentLinkedQueue<ZMTPAuthDecision> decisions = new ConcurrentLinkedQueue<>(
                List.of(ZMTPAuthDecision.temporaryFailure("later"), ZMTPAuthDecision.accept("at last")));
        ZMTPConfig config = security.server(ours(), request -> CompletableFuture.completedStage(decisions.remove()))
                .build();
        try (OurSide ourSide = new OurSide();
                PeerContext peer = PeerKind.LIBZMQ.open()) {
            PeerSocket theirs = peer.socket(ZMTPSocketType.DEALER);
            security.client(theirs);
            theirs.connect(ourSide.listen(config));
            theirs.send(MESSAGE);
            assertThat(ourSide.accept().handshakeFailure()).isInstanceOf(ZMTPException.class);

            OurEnd again = ourSide.accept();
            again.handshake();
            assertThat(again.session().userId()).isEqualTo("at last");
            assertThat(again.message()).isEqualTo(MESSAGE);
        }
    }

    /** A libzmq socket that hears nothing connects again after 100 ms, for ever. */
    @ParameterizedTest
    @EnumSource
    void libzmqDoesNotReconnectAfterItLearnsThatItsTypeIsWrong(Security security) {
        ZMTPConfig config = security.server(ours(ZMTPSocketType.PUB), security.authenticator())
                .build();
        try (OurSide ourSide = new OurSide();
                PeerContext peer = PeerKind.LIBZMQ.open()) {
            PeerSocket theirs = peer.socket(ZMTPSocketType.DEALER);
            security.client(theirs);
            theirs.connect(ourSide.listen(config));
            assertThat(ourSide.accept().handshakeFailure())
                    .isInstanceOfSatisfying(
                            ZMTPException.class,
                            failure -> assertThat(failure.code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE));
            assertThat(ourSide.accept(RECONNECT)).isNull();
        }
    }

    private static ZMTPAuthenticator always(ZMTPAuthDecision decision) {
        return request -> CompletableFuture.completedStage(decision);
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void theirServerDeniesAStranger(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.stranger(ours()).build();
        try (InteropConnection link = new InteropConnection(
                kind, binder, config, ZMTPSocketType.DEALER, socket -> theirServer(socket, security))) {
            assertRefused(link, ZMTPException.Code.PEER_ERROR, "refused by the peer: 400");
            assertThat(link.theirs().event()).isEqualTo(refusedByThem(kind, 400));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void weLearnThatTheirZapHandlerIsBroken(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.client(ours()).build();
        try (InteropConnection link = new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, socket -> {
            security.server(socket);
            socket.zapHandler(request -> ZapReply.refuse(500));
        })) {
            assertRefused(link, ZMTPException.Code.PEER_ERROR, "refused by the peer: 500");
            assertThat(link.theirs().event()).isEqualTo(refusedByThem(kind, 500));
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2} bind")
    @MethodSource("everyMechanism")
    void aTemporaryFailureOfTheirZapHandlerRefusesUs(PeerKind kind, Security security, Binder binder) {
        ZMTPConfig config = security.client(ours()).build();
        try (InteropConnection link = new InteropConnection(kind, binder, config, ZMTPSocketType.DEALER, socket -> {
            security.server(socket);
            socket.zapHandler(request -> ZapReply.refuse(300));
        })) {
            if (kind == PeerKind.LIBZMQ) {
                assertThat(link.theirs().event()).isEqualTo(PeerEvent.refused(300));
                // It says nothing, as it must. It closes if its handler's answer was there at once, and else leaves the
                // connection to time, which we cut short.
                assertThat(link.theirs().receive(Patience.RETRY)).isNull();
                link.ours().channel().close();
                assertRefused(link, ZMTPException.Code.CLOSED, "");
            } else {
                assertRefused(link, ZMTPException.Code.PEER_ERROR, "refused by the peer: 300");
                assertThat(link.theirs().event()).isEqualTo(lost(kind));
            }
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void theirClientThatExpectsAnotherServerKeyIsRefused(PeerKind kind, Binder binder) {
        ZMTPConfig config =
                Security.CURVE.server(ours(), Security.CURVE.authenticator()).build();
        try (InteropConnection link = new InteropConnection(
                kind,
                binder,
                config,
                ZMTPSocketType.DEALER,
                socket -> socket.curveClient(Security.STRANGER.publicKey(), Security.CLIENT))) {
            assertRefused(link, ZMTPException.Code.MALFORMED, "HELLO: a box that does not open");
            assertThat(link.theirs().event()).isEqualTo(lost(kind));
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void weRefuseAServerWithAnotherKey(PeerKind kind, Binder binder) {
        ZMTPConfig config = ours().mechanism(ZMTPCurve.client(Security.STRANGER.publicKey(), Security.CLIENT))
                .build();
        try (InteropConnection link = new InteropConnection(
                kind, binder, config, ZMTPSocketType.DEALER, socket -> theirServer(socket, Security.CURVE))) {
            // JeroMQ answers with an ERROR that gives no reason.
            assertRefused(
                    link, kind == PeerKind.JEROMQ ? ZMTPException.Code.PEER_ERROR : ZMTPException.Code.CLOSED, "");
            assertThat(link.theirs().event()).isEqualTo(PeerEvent.of(PeerEvent.Kind.FAILED_PROTOCOL));
        }
    }

    /** Our side fails with {@code code}, and no message of either side arrives. */
    static void assertRefused(InteropConnection link, ZMTPException.Code code, String reason) {
        link.ours().write(MESSAGE);
        // Not where there is no connection yet. Of one frame: JeroMQ fails when a connection ends between two.
        boolean taken = link.theirs().send(Messages.of("theirs"), Duration.ZERO);
        assertThat(link.ours().handshakeFailure())
                .as("the peer has a message to send: %s", taken)
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(code))
                .hasMessageContaining(reason);
        assertThat(link.ours().next(String.class)).isEqualTo(OurEnd.CLOSED);
        assertThat(link.ours().next(Patience.RETRY)).isNull();
        assertThat(link.theirs().receive(Patience.RETRY)).isNull();
    }

    /** The first event of the peer's monitor when we have refused it with an ERROR. */
    private static PeerEvent refusedByUs(PeerKind kind, Security security, int status) {
        return kind == PeerKind.LIBZMQ && security == Security.PLAIN
                ? PeerEvent.of(PeerEvent.Kind.FAILED_PROTOCOL) // it expects ERROR as it spells it itself
                : PeerEvent.refused(status);
    }

    /** The first event of the peer's monitor when it has refused us. JeroMQ's reports nothing about its ZAP handler. */
    private static PeerEvent refusedByThem(PeerKind kind, int status) {
        return kind == PeerKind.LIBZMQ ? PeerEvent.refused(status) : lost(kind);
    }

    /** The first event of the peer's monitor when the connection has ended during the handshake. */
    private static PeerEvent lost(PeerKind kind) {
        return PeerEvent.of(kind == PeerKind.LIBZMQ ? PeerEvent.Kind.FAILED : PeerEvent.Kind.DISCONNECTED);
    }
}
