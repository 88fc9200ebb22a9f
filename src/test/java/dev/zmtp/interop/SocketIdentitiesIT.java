package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestSockets.Events;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How our sockets find a peer by its name, against ourselves and other implementations, with each side listening. */
class SocketIdentitiesIT {

    private static final byte[] A = "A".getBytes(StandardCharsets.UTF_8);
    private static final byte[] B = "B".getBytes(StandardCharsets.UTF_8);

    private static final ZMTPMessage QUESTION = Messages.of("how", "", "are you?");
    private static final ZMTPMessage ANSWER = Messages.of("well");

    /** T4. */
    @Tag("T4")
    @ParameterizedTest(name = "{0}, {1} bind, we route: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void aRouterSeesTheNameThatADealerAnnounces(SocketPeerKind kind, Binder binder, boolean weRoute) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket router = sides.socket(weRoute, ZMTPSocketType.ROUTER);
            PeerSocket dealer = sides.socket(!weRoute, ZMTPSocketType.DEALER);
            router.identity("the router");
            dealer.identity("A");
            BothSides.join(binder, weRoute, router, dealer);

            dealer.send(QUESTION);
            assertThat(router.receive()).isEqualTo(Messages.addressed(A, QUESTION));
            router.send(Messages.addressed(A, ANSWER));

            assertThat(dealer.receive()).isEqualTo(ANSWER);
        }
    }

    /** T4. */
    @Tag("T4")
    @ParameterizedTest(name = "{0}, {1} bind, we route: {2}")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinderInBothRoles")
    void aRouterGivesDealersWithoutANameDifferentOnes(SocketPeerKind kind, Binder binder, boolean weRoute) {
        try (BothSides sides = new BothSides(kind)) {
            PeerSocket router = sides.socket(weRoute, ZMTPSocketType.ROUTER);
            PeerSocket one = sides.socket(!weRoute, ZMTPSocketType.DEALER);
            PeerSocket another = sides.socket(!weRoute, ZMTPSocketType.DEALER);
            BothSides.join(binder, weRoute, router, one, another);

            one.send(Messages.of("one"));
            another.send(Messages.of("another"));

            List<byte[]> names = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                List<byte[]> received = Messages.frames(router.receive());
                byte[] name = received.remove(0);
                names.add(name);
                router.send(Messages.addressed(name, Messages.of(received)));
            }
            assertThat(names.get(0)).startsWith(0).isNotEqualTo(names.get(1));
            assertThat(one.receive()).isEqualTo(Messages.of("one"));
            assertThat(another.receive()).isEqualTo(Messages.of("another"));
        }
    }

    /** T10. */
    @Tag("T10")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void routersThatKnowEachOtherSendInBothDirections(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket ours = sides.ours(ZMTPSocketType.ROUTER);
            PeerSocket theirs = sides.theirs(ZMTPSocketType.ROUTER);
            ours.identity("A");
            theirs.identity("B");
            BothSides.join(binder, ours, theirs);
            BothSides.awaitPeers(ours, 1);

            ours.send(Messages.addressed(B, QUESTION));
            assertThat(theirs.receive()).isEqualTo(Messages.addressed(A, QUESTION));
            theirs.send(Messages.addressed(A, ANSWER));

            assertThat(ours.receive()).isEqualTo(Messages.addressed(B, ANSWER));
        }
    }

    /** T10. */
    @Tag("T10")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void aSendToAnUnknownNameFails(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket ours = sides.ours(ZMTPSocketType.ROUTER);
            PeerSocket theirs = sides.theirs(ZMTPSocketType.ROUTER);
            theirs.identity("B");
            BothSides.join(binder, ours, theirs);
            BothSides.awaitPeers(ours, 1);

            assertThat(TestSockets.reason(ours.socket().sendAsync(Messages.addressed(A, QUESTION))))
                    .isEqualTo(ZMTPSocketException.Reason.UNROUTABLE);
            assertThat(ours.socket().stats().dropped()).isEqualTo(1);
        }
    }

    // Two with the same name

    /** T48. */
    @Tag("T48")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void aSecondPeerOfTheSameNameIsRefusedWithAnEventOnBothSides(SocketPeerKind kind, Binder binder) {
        try (BothSides sides = new BothSides(kind)) {
            OurPeer.Socket router = sides.ours(ZMTPSocketType.ROUTER);
            PeerSocket first = named("A", sides);
            PeerSocket second = named("A", sides);
            Events events = TestSockets.events(router.socket());
            String endpoint = binder == Binder.WE ? router.bind("tcp://127.0.0.1:*") : "";
            join(router, endpoint, first);
            events.next(ZMTPSocketEvent.PeerUp.class);

            join(router, endpoint, second);

            assertThat(events.nextRefusal()).hasMessageContaining("taken by another peer");
            second.awaitEnd();
            assertThat(router.socket().peers().stream().filter(TestSockets::isUp))
                    .hasSize(1);
            first.send(QUESTION);
            assertThat(router.receive()).isEqualTo(Messages.addressed(A, QUESTION));
            router.send(Messages.addressed(A, ANSWER));
            assertThat(first.receive()).isEqualTo(ANSWER);
        }
    }

    /** T48. */
    @Tag("T48")
    @ParameterizedTest(name = "{0}, {1} bind")
    @MethodSource("dev.zmtp.interop.BothSides#everyKindAndBinder")
    void aSecondPeerOfTheSameNameMayTakeItOver(SocketPeerKind kind, Binder binder) {
        OurPeer us = new OurPeer(
                new TestSockets(), config -> config.routingIdConflictPolicy(RoutingIdConflictPolicy.TAKE_OVER));
        try (BothSides sides = new BothSides(kind, us)) {
            OurPeer.Socket router = sides.ours(ZMTPSocketType.ROUTER);
            PeerSocket first = named("A", sides);
            PeerSocket second = named("A", sides);
            Events events = TestSockets.events(router.socket());
            String endpoint = binder == Binder.WE ? router.bind("tcp://127.0.0.1:*") : "";
            join(router, endpoint, first);
            ZMTPPeer loser = events.next(ZMTPSocketEvent.PeerUp.class).peer();

            join(router, endpoint, second);

            ZMTPSocketEvent.PeerDown down = events.next(ZMTPSocketEvent.PeerDown.class);
            assertThat(down.peer()).isSameAs(loser);
            assertThat(down.cause()).hasMessageContaining("taken over its identity");
            first.awaitEnd();
            assertThat(sentUntilReceived(second, router)).isEqualTo(Messages.addressed(A, QUESTION));
        }
    }

    /** The one that has lost the name comes back for it, and so forth: what is sent at that moment may be lost. */
    private static ZMTPMessage sentUntilReceived(PeerSocket dealer, PeerSocket router) {
        long deadline = Patience.deadline();
        ZMTPMessage received = null;
        while (received == null) {
            assertThat(Patience.isOver(deadline)).as("too late").isFalse();
            dealer.send(QUESTION);
            received = router.receive(Patience.RETRY);
        }
        return received;
    }

    private static PeerSocket named(String name, BothSides sides) {
        PeerSocket socket = sides.theirs(ZMTPSocketType.DEALER);
        socket.identity(name);
        return socket;
    }

    private static void join(PeerSocket router, String endpoint, PeerSocket dealer) {
        if (endpoint.isEmpty()) {
            router.connect(dealer.bind("tcp://127.0.0.1:*"));
        } else {
            dealer.connect(endpoint);
        }
    }
}
