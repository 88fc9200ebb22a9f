package dev.zmtp.internal.socket.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHome;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many requests of each peer a handler may have. */
class PlacesTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    private SocketContext context(int places) {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(ZMTPSocketType.ROUTER)
                .maxOutstandingRequests(places)
                .build();
        return ClockedSockets.context(config, clock.eventLoop(), () -> 1);
    }

    /** A peer that has not left. */
    private static Peer peerOf(RecordedOwner owner) {
        return owner.newPeer(mock(PeerHome.class));
    }

    private static int fill(Places places, Peer peer) {
        int taken = 0;
        while (places.areLeft() && places.areLeftFor(peer)) {
            places.take(peer);
            taken++;
        }
        return taken;
    }

    @Test
    void eachPeerHasHalfOfWhatIsLeftAndOneAtLeast() {
        SocketContext context = context(12);
        RecordedOwner owner = new RecordedOwner(context);
        Places places = new Places(context);

        assertThat(fill(places, peerOf(owner))).isEqualTo(4);
        assertThat(fill(places, peerOf(owner))).isEqualTo(3);
        assertThat(fill(places, peerOf(owner))).isEqualTo(2);
        assertThat(fill(places, peerOf(owner))).isEqualTo(1);
        assertThat(fill(places, peerOf(owner))).isEqualTo(1);
        assertThat(fill(places, peerOf(owner))).isEqualTo(1);
        assertThat(fill(places, peerOf(owner))).as("none is left").isZero();
    }

    @Test
    void theOnlyPlaceIsForAnyPeer() {
        SocketContext context = context(1);
        RecordedOwner owner = new RecordedOwner(context);
        Places places = new Places(context);
        Peer first = peerOf(owner);

        assertThat(fill(places, first)).isEqualTo(1);
        assertThat(places.giveBack(first, first.occupant())).isFalse();
        assertThat(fill(places, peerOf(owner))).isEqualTo(1);
    }

    @Test
    void aPeerThatWasDeclinedIsRecalledWhenItSurelyHasLessThanItsShare() {
        SocketContext context = context(100);
        RecordedOwner owner = new RecordedOwner(context);
        Places places = new Places(context);
        Peer greedy = peerOf(owner);
        Peer late = peerOf(owner);
        fill(places, greedy);
        int taken = fill(places, late);
        places.decline(late);

        assertThat(places.recall()).isNull();
        for (int i = 0; i < 34; i++) {
            places.giveBack(greedy, greedy.occupant());
        }
        assertThat(taken).isEqualTo(22);
        assertThat(places.recall()).isSameAs(late);
        assertThat(places.recall()).isNull();
    }

    @Test
    void theEndOfOneOfItsOwnRequestsSaysThatThePeerWasDeclined() {
        SocketContext context = context(3);
        Places places = new Places(context);
        Peer peer = peerOf(new RecordedOwner(context));
        fill(places, peer);
        places.decline(peer);

        assertThat(places.giveBack(peer, peer.occupant())).isTrue();
        assertThat(places.areLeftFor(peer)).isTrue();
    }

    @Test
    void thePeerThatIsThereNextDoesNotShareThePlacesOfItsPredecessor() {
        SocketContext context = context(9);
        Places places = new Places(context);
        Peer peer = peerOf(new RecordedOwner(context));
        int first = peer.occupant();
        assertThat(fill(places, peer)).isEqualTo(3);
        peer.inbound().replaced();

        assertThat(fill(places, peer)).isEqualTo(2);
        assertThat(places.giveBack(peer, first)).isFalse();

        assertThat(fill(places, peer))
                .as("half of the five that are left, of which it has two")
                .isZero();
        places.giveBack(peer, peer.occupant());
        assertThat(fill(places, peer)).isEqualTo(1);
    }

    @Test
    void aPeerThatIsReplacedIsNotRecalledWhenItsRequestsHaveEnded() {
        SocketContext context = context(9);
        Places places = new Places(context);
        Peer peer = peerOf(new RecordedOwner(context));
        int first = peer.occupant();
        int taken = fill(places, peer);
        places.decline(peer);
        peer.inbound().replaced();

        for (int i = 0; i < taken; i++) {
            places.giveBack(peer, first);
        }

        assertThat(places.recall()).isNull();
    }

    @Test
    void thoseThatHaveLeftHaveTheShareOfOnePeer() {
        SocketContext context = context(12);
        RecordedOwner owner = new RecordedOwner(context);
        Places places = new Places(context);

        assertThat(fill(places, owner.newPeer(null))).isEqualTo(4);
        assertThat(fill(places, owner.newPeer(null))).isZero();
        assertThat(fill(places, peerOf(owner))).isEqualTo(3);
    }

    @Test
    void oneThatHasLeftIsRecalledWhenARequestOfAnotherOfThemEnds() {
        SocketContext context = context(2);
        RecordedOwner owner = new RecordedOwner(context);
        Places places = new Places(context);
        Peer first = owner.newPeer(null);
        Peer second = owner.newPeer(null);
        int holder = places.take(first);
        assertThat(places.areLeftFor(second)).isFalse();
        places.decline(second);
        assertThat(places.recall()).isNull();

        assertThat(places.giveBack(first, holder)).isFalse();

        assertThat(places.recall()).isSameAs(second);
        assertThat(places.areLeftFor(second)).isTrue();
    }
}
