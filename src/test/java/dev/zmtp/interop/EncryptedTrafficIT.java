package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.interop.InteropConnection.Binder;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** With CURVE, subscriptions, PINGs and messages are encrypted in both directions. */
@Tag("slow")
@Tag("netty-4.2-only") // the same with any version of Netty
class EncryptedTrafficIT {

    private static final Duration INTERVAL = Duration.ofMillis(50);
    private static final Duration TIMEOUT = Duration.ofMillis(1_500);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int SOME = 5;

    private static final ZMTPMessage NEWS = Messages.of("news of today", "body");

    /** The side that is CURVE's server. */
    enum Server {
        OURS(MechanismSide.CURVE_SERVER, MechanismSide.CURVE_CLIENT),
        THEIRS(MechanismSide.CURVE_CLIENT, MechanismSide.CURVE_SERVER);

        private final MechanismSide ours;
        private final MechanismSide theirs;

        Server(MechanismSide ours, MechanismSide theirs) {
            this.ours = ours;
            this.theirs = theirs;
        }
    }

    static List<Arguments> everyServer() {
        return Every.combinationOf(PeerKind.values(), Server.values(), Binder.values());
    }

    @ParameterizedTest(name = "{0}, {1} is the server, {2} bind")
    @MethodSource("everyServer")
    void theirSubscriptionsAndOurMessagesAreEncrypted(PeerKind kind, Server server, Binder binder) {
        Tap tap = new Tap();
        ZMTPConfig config =
                server.ours.apply(SecurityIT.ours(ZMTPSocketType.PUB)).build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.SUB, server.theirs::apply, tap)) {
            link.ours().handshake();
            link.theirs().subscribe("news");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe("news"));
            link.ours().write(NEWS);
            assertThat(link.theirs().receive()).isEqualTo(NEWS);
            link.theirs().unsubscribe("news");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.cancel("news"));

            assertThat(tap.received("MESSAGE")).isEqualTo(2);
            assertThat(tap.received("SUBSCRIBE")).isZero();
            assertThat(tap.sent("MESSAGE")).isEqualTo(NEWS.size());
        }
    }

    @ParameterizedTest(name = "{0}, {1} is the server, {2} bind")
    @MethodSource("everyServer")
    void ourSubscriptionsAndTheirMessagesAreEncrypted(PeerKind kind, Server server, Binder binder) {
        Tap tap = new Tap();
        ZMTPConfig config =
                server.ours.apply(SecurityIT.ours(ZMTPSocketType.SUB)).build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.XPUB, server.theirs::apply, tap)) {
            link.ours().handshake();
            link.ours().write(ZMTPSubscription.subscribe("news"));
            assertThat(link.theirs().receive()).isEqualTo(Messages.rawSubscription(true, "news"));
            link.theirs().send(NEWS);
            assertThat(link.ours().message()).isEqualTo(NEWS);
            link.ours().write(ZMTPSubscription.cancel("news"));
            assertThat(link.theirs().receive()).isEqualTo(Messages.rawSubscription(false, "news"));

            assertThat(tap.sent("MESSAGE")).isEqualTo(2);
            assertThat(tap.sent("SUBSCRIBE")).isZero();
            assertThat(tap.received("MESSAGE")).isEqualTo(NEWS.size());
        }
    }

    static List<Arguments> everyPeerAndServer() {
        return Every.combinationOf(PeerKind.values(), Server.values());
    }

    @ParameterizedTest(name = "{0}, {1} is the server")
    @MethodSource("everyPeerAndServer")
    void theirEncryptedPingsAreAnsweredEncrypted(PeerKind kind, Server server) {
        int longerThanTheTimeout = (int) (TIMEOUT.dividedBy(INTERVAL) * 5 / 4);
        Tap tap = new Tap();
        ZMTPConfig config = server.ours.apply(SecurityIT.ours()).build();
        try (InteropConnection link = new InteropConnection(
                kind,
                Binder.WE,
                config,
                ZMTPSocketType.DEALER,
                socket -> {
                    server.theirs.apply(socket);
                    socket.heartbeat(INTERVAL, TIMEOUT, LONG);
                },
                tap)) {
            link.ours().handshake();
            // Nothing else is sent.
            tap.await(() ->
                    tap.received("MESSAGE") >= longerThanTheTimeout && tap.sent("MESSAGE") >= longerThanTheTimeout);
            assertThat(tap.received("PING")).isZero();

            SecurityIT.talk(link);
        }
    }

    @ParameterizedTest(name = "{0} is the server")
    @EnumSource
    void libzmqAnswersOurPingsEncrypted(Server server) {
        Tap tap = new Tap();
        ZMTPConfig config = server.ours
                .apply(SecurityIT.ours())
                .heartbeatInterval(INTERVAL)
                .heartbeatTimeout(LONG)
                .heartbeatTtl(LONG)
                .build();
        try (InteropConnection link = new InteropConnection(
                PeerKind.LIBZMQ, Binder.THEY, config, ZMTPSocketType.DEALER, server.theirs::apply, tap)) {
            link.ours().handshake();
            tap.await(() -> tap.sent("MESSAGE") >= SOME && tap.received("MESSAGE") >= SOME);
            assertThat(tap.sent("PING")).isZero();

            SecurityIT.talk(link);
        }
    }
}
