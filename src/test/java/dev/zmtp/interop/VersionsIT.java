package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.interop.InteropConnection.Binder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every version to which our codec can be limited: the newer peer steps down to it. */
class VersionsIT {

    private static final String OUR_IDENTITY = "we";
    private static final String THEIR_IDENTITY = "they";
    private static final String TOPIC = "news";
    private static final ZMTPMessage NEWS = Messages.of("news of today", "body");

    /** The sizes around which the header of a frame changes, in any version. */
    private static final ZMTPMessage MESSAGE = Messages.ofLengths(0, 1, 252, 253, 254, 255, 256, 64 << 10);

    static List<Arguments> everyVersion() {
        return Every.combinationOf(PeerKind.values(), Binder.values(), ZMTPVersion.values());
    }

    private static ZMTPConfig config(ZMTPSocketType type, ZMTPVersion version) {
        return ZMTPConfig.builder()
                .socketType(type)
                .protocol(version)
                .localIdentity(OUR_IDENTITY)
                .build();
    }

    @ParameterizedTest(name = "{0}, {1} bind, {2}")
    @MethodSource("everyVersion")
    void messagesAndIdentitiesAreExchangedInEveryVersion(PeerKind kind, Binder binder, ZMTPVersion version) {
        try (InteropConnection link = new InteropConnection(
                kind,
                binder,
                config(ZMTPSocketType.DEALER, version),
                ZMTPSocketType.ROUTER,
                socket -> socket.identity(THEIR_IDENTITY))) {
            ZMTPHandshake handshake = link.ours().handshake();
            assertThat(handshake.negotiatedVersion()).isEqualTo(older(version, link.peer()));
            assertThat(handshake.remoteSocketType())
                    .isEqualTo(version == ZMTPVersion.ZMTP10 ? null : ZMTPSocketType.ROUTER);
            assertThat(StandardCharsets.UTF_8.decode(handshake.remoteIdentity()).toString())
                    .isEqualTo(THEIR_IDENTITY);

            ZMTPMessage addressed = Messages.addressed(OUR_IDENTITY.getBytes(StandardCharsets.UTF_8), MESSAGE);
            link.ours().write(MESSAGE);
            assertThat(link.theirs().receive()).isEqualTo(addressed);
            link.theirs().send(addressed);
            assertThat(link.ours().message()).isEqualTo(MESSAGE);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind, {2}")
    @MethodSource("everyVersion")
    void theirSubscriptionsArriveInEveryVersion(PeerKind kind, Binder binder, ZMTPVersion version) {
        try (InteropConnection link = new InteropConnection(
                kind,
                binder,
                config(ZMTPSocketType.PUB, version),
                ZMTPSocketType.SUB,
                socket -> socket.subscribe(TOPIC))) {
            link.ours().handshake();
            if (version == ZMTPVersion.ZMTP10) {
                // The one that a 1.0 peer cannot send; this peer is newer and sends its own too.
                assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(""));
            }
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(TOPIC));

            link.ours().write(NEWS);
            assertThat(link.theirs().receive()).isEqualTo(NEWS);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind, {2}")
    @MethodSource("everyVersion")
    void ourSubscriptionsArriveInEveryVersion(PeerKind kind, Binder binder, ZMTPVersion version) {
        try (InteropConnection link = new InteropConnection(
                kind, binder, config(ZMTPSocketType.SUB, version), ZMTPSocketType.XPUB, socket -> {})) {
            link.ours().handshake();
            link.ours().write(ZMTPSubscription.subscribe(TOPIC));
            ZMTPMessage subscription = link.theirs().receive();
            if (version == ZMTPVersion.ZMTP10) {
                assertThat(subscription).isEqualTo(Messages.rawSubscription(true, ""));
                subscription = link.theirs().receive();
            }
            assertThat(subscription).isEqualTo(Messages.rawSubscription(true, TOPIC));

            link.theirs().send(NEWS);
            assertThat(link.ours().message()).isEqualTo(NEWS);
        }
    }

    private static ZMTPVersion older(ZMTPVersion ours, PeerContext peer) {
        return ours.compareTo(peer.version()) < 0 ? ours : peer.version();
    }
}
