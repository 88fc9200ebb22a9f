package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.interop.InteropConnection.Binder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Publishers filter by subscriptions: theirs filters by ours, and ours gets theirs. */
class SubscriptionsIT {

    private static final ZMTPMessage A = Messages.of("apples", "1");
    private static final ZMTPMessage B = Messages.of("bananas", "2");
    private static final ZMTPMessage C = Messages.of("cherries", "3");

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void theirPublisherSendsOnlyWhatWeSubscribedTo(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.SUB, ZMTPSocketType.PUB)) {
            link.ours().handshake();
            link.ours().write(ZMTPSubscription.subscribe("a"));
            link.ours().write(ZMTPSubscription.subscribe("c"));
            publishUntilReceived(link, C);

            link.theirs().send(A);
            link.theirs().send(B);
            link.theirs().send(Messages.of("c, the last"));

            assertThat(receivedUntil(link, Messages.of("c, the last")))
                    .contains(A)
                    .doesNotContain(B);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void theirPublisherStopsSendingWhatWeCancelled(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.SUB, ZMTPSocketType.PUB)) {
            link.ours().handshake();
            link.ours().write(ZMTPSubscription.subscribe("a"));
            publishUntilReceived(link, A);
            link.ours().write(ZMTPSubscription.cancel("a"));
            link.ours().write(ZMTPSubscription.subscribe("c"));
            publishUntilReceived(link, C); // and so the cancellation, which was sent before, has arrived too

            link.theirs().send(A);
            link.theirs().send(Messages.of("c, the last"));

            assertThat(receivedUntil(link, Messages.of("c, the last"))).doesNotContain(A);
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void ourPublisherGetsTheirSubscriptionsAndCancellations(PeerKind kind, Binder binder) {
        try (InteropConnection link = InteropConnection.of(kind, binder, ZMTPSocketType.PUB, ZMTPSocketType.SUB)) {
            link.ours().handshake();
            link.theirs().subscribe("a");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe("a"));
            link.theirs().subscribe("");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.subscribe(""));
            link.theirs().unsubscribe("");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.cancel(""));

            link.ours().write(A);
            assertThat(link.theirs().receive()).isEqualTo(A);

            link.theirs().unsubscribe("a");
            assertThat(link.subscription()).isEqualTo(ZMTPSubscription.cancel("a"));
        }
    }

    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.InteropConnection#everyPeerAndBinder")
    void extendedSocketsGetSubscriptionsAsMessages(PeerKind kind, Binder binder) {
        try (InteropConnection theyPublish =
                        InteropConnection.of(kind, binder, ZMTPSocketType.XSUB, ZMTPSocketType.XPUB);
                InteropConnection wePublish =
                        InteropConnection.of(kind, binder, ZMTPSocketType.XPUB, ZMTPSocketType.XSUB)) {
            theyPublish.ours().handshake();
            theyPublish.ours().write(ZMTPSubscription.subscribe("a"));
            theyPublish.ours().write(ZMTPSubscription.cancel("a"));
            assertThat(theyPublish.theirs().receive()).isEqualTo(Messages.rawSubscription(true, "a"));
            assertThat(theyPublish.theirs().receive()).isEqualTo(Messages.rawSubscription(false, "a"));

            wePublish.ours().handshake();
            // Their XSUB repeats what it holds to each new connection, but drops a cancellation that comes before one.
            wePublish.theirs().send(Messages.rawSubscription(true, "a"));
            assertThat(wePublish.subscription()).isEqualTo(ZMTPSubscription.subscribe("a"));
            wePublish.theirs().send(Messages.rawSubscription(false, "a"));
            assertThat(wePublish.subscription()).isEqualTo(ZMTPSubscription.cancel("a"));
        }
    }

    /** Only a matching message shows that a subscription has reached a PUB. */
    private static void publishUntilReceived(InteropConnection link, ZMTPMessage message) {
        long deadline = Patience.deadline();
        boolean received = false;
        while (!received) {
            assertThat(Patience.isOver(deadline)).as("too late for %s", message).isFalse();
            link.theirs().send(message);
            received = message.equals(link.ours().next(Patience.RETRY));
        }
    }

    private static List<Object> receivedUntil(InteropConnection link, ZMTPMessage last) {
        List<Object> received = new ArrayList<>();
        while (!received.contains(last)) {
            received.add(link.ours().message());
        }
        return received;
    }
}
