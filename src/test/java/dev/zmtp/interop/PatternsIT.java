package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.interop.InteropConnection.Binder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every pair of classic socket types that may talk: our codec is the one, another implementation's socket the other.
 */
class PatternsIT {

    private static final String OUR_IDENTITY = "we";
    private static final String THEIR_IDENTITY = "they";

    private static final String TOPIC = "news";
    private static final ZMTPMessage NEWS = Messages.of("news of today", "body");
    private static final ZMTPMessage QUESTION = Messages.of("how", "are", "you?");
    private static final ZMTPMessage ANSWER = Messages.of("well");

    static List<Arguments> everyPair() {
        List<Arguments> all = new ArrayList<>();
        for (PeerKind kind : PeerKind.values()) {
            for (ZMTPSocketType ours : ZMTPSocketType.values()) {
                for (ZMTPSocketType theirs : ZMTPSocketType.values()) {
                    if (!ours.isDraft() && ours.accepts(theirs)) {
                        for (Binder binder : Binder.values()) {
                            all.add(Arguments.of(kind, ours, theirs, binder, false));
                            all.add(Arguments.of(kind, ours, theirs, binder, true));
                        }
                    }
                }
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{0}: our {1}, its {2}, {3} bind, identities: {4}")
    @MethodSource("everyPair")
    void everyPairCompletesTheHandshakeAndExchangesMessages(
            PeerKind kind, ZMTPSocketType ourType, ZMTPSocketType theirType, Binder binder, boolean identities) {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(ourType)
                .localIdentity(identities ? OUR_IDENTITY : "")
                .build();
        try (InteropConnection link = new InteropConnection(kind, binder, config, theirType, socket -> {
            if (identities) {
                socket.identity(THEIR_IDENTITY);
            }
            if (theirType == ZMTPSocketType.SUB) {
                socket.subscribe(Conversation.TOPIC);
            }
        })) {
            ZMTPHandshake handshake = link.ours().handshake();
            assertThat(handshake.negotiatedVersion()).isEqualTo(link.peer().version());
            assertThat(handshake.mechanism()).isEqualTo("NULL");
            assertThat(handshake.remoteSocketType()).isEqualTo(theirType);
            assertThat(text(handshake.remoteIdentity()))
                    .isEqualTo(identities && theirType.announcesIdentity() ? THEIR_IDENTITY : "");

            Conversation.over(link, ourType, theirType, identities ? OUR_IDENTITY : null);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void theirRouterMaySendFirstToOurIdentity(PeerKind kind, Binder binder) {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(ZMTPSocketType.DEALER)
                .localIdentity(OUR_IDENTITY)
                .build();
        try (InteropConnection link =
                new InteropConnection(kind, binder, config, ZMTPSocketType.ROUTER, socket -> {})) {
            link.ours().handshake();
            ZMTPMessage news = Messages.addressed(OUR_IDENTITY.getBytes(StandardCharsets.UTF_8), NEWS);
            long deadline = Patience.deadline();
            Object received = null;
            while (received == null && !Patience.isOver(deadline)) {
                link.theirs().send(news); // dropped as long as the ROUTER has not seen the end of the handshake
                received = link.ours().next(Patience.RETRY);
            }

            assertThat(received).isEqualTo(NEWS);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void ourSessionHasTheirIdentity(PeerKind kind, Binder binder) {
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER).build();
        try (InteropConnection link = new InteropConnection(
                kind, binder, config, ZMTPSocketType.DEALER, socket -> socket.identity(THEIR_IDENTITY))) {
            link.ours().handshake();

            assertThat(link.ours().session().isPeerAnonymous()).isFalse();
            assertThat(text(link.ours().session().peerIdentity())).isEqualTo(THEIR_IDENTITY);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void anAnonymousPeerGetsAnIdentityInOurSession(PeerKind kind, Binder binder) {
        try (InteropConnection link =
                InteropConnection.of(kind, binder, ZMTPSocketType.ROUTER, ZMTPSocketType.DEALER)) {
            link.ours().handshake();

            assertThat(link.ours().session().isPeerAnonymous()).isTrue();
            assertThat(link.ours().session().peerIdentity().hasRemaining()).isTrue();
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void writesBeforeTheHandshakeArriveAfterIt(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.PUSH, ZMTPSocketType.PULL)) {
            Conversation.weSendTheyReceive(link, QUESTION);
            Conversation.weSendTheyReceive(link, ANSWER);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void messagesFromSubscribersToPublishersArrive(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.XPUB, ZMTPSocketType.XSUB);
                InteropConnection back = InteropConnection.of(kind, binder, ZMTPSocketType.XSUB, ZMTPSocketType.XPUB)) {
            link.ours().handshake();
            // Their XSUB drops a message while it has no connection yet; a subscription that arrived shows that it has
            // one.
            link.theirs().send(Messages.rawSubscription(true, TOPIC));
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(TOPIC));
            Conversation.theySendWeReceive(link, QUESTION);

            back.ours().handshake();
            Conversation.weSendTheyReceive(back, QUESTION);
        }
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.UTF_8.decode(bytes).toString();
    }
}
