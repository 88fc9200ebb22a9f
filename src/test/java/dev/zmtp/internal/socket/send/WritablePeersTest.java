package dev.zmtp.internal.socket.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import dev.zmtp.internal.socket.peer.Peer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

/** Whose turn it is. */
class WritablePeersTest {

    private final WritablePeers peers = new WritablePeers();

    private Peer added() {
        Peer peer = mock(Peer.class, Mockito.CALLS_REAL_METHODS);
        writable(peer, true);
        peers.add(peer);
        return peer;
    }

    private static void writable(Peer peer, boolean now) {
        doReturn(now).when(peer).isFree();
    }

    @Test
    void thereIsNoneAtFirst() {
        assertThat(peers.hasNext()).isFalse();
        assertThat(peers.next()).isNull();
    }

    @Test
    void eachHasItsTurn() {
        Peer a = added();
        Peer b = added();
        Peer c = added();
        assertThat(Arrays.asList(peers.next(), peers.next(), peers.next(), peers.next()))
                .containsExactly(a, b, c, a);
    }

    @Test
    void lookingForOneTakesNoTurn() {
        Peer a = added();
        added();
        added();
        assertThat(peers.hasNext()).isTrue();
        assertThat(peers.next()).isSameAs(a);
    }

    @Test
    void aFullOneIsAskedOnceAndComesBackWhenItHasRoom() {
        Peer full = added();
        Peer other = added();
        writable(full, false);
        assertThat(peers.next()).isSameAs(other);
        Mockito.clearInvocations(full);
        assertThat(peers.next()).isSameAs(other);
        verify(full, never()).isFree();

        writable(full, true);
        peers.becameWritable(full);

        assertThat(List.of(peers.next(), peers.next())).containsExactlyInAnyOrder(full, other);
    }

    @Test
    void noneIsReturnedWhileAllAreFull() {
        Peer peer = added();
        writable(peer, false);
        assertThat(peers.next()).isNull();
        peers.becameWritable(peer);
        assertThat(peers.next()).as("it was not").isNull();
    }

    @Test
    void onlyThoseThatWereAddedTakePart() {
        Peer removed = added();
        peers.remove(removed);
        peers.remove(removed);
        peers.becameWritable(removed);
        assertThat(peers.next()).isNull();
    }

    /** Against a plain list: in so many turns as there are writable peers, each has one. */
    @Test
    void whateverComesAndGoesEachWritableOneHasATurnInEachRound() {
        Random random = new Random(42);
        List<Peer> there = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            int what = random.nextInt(4);
            if (there.isEmpty() || what == 0) {
                there.add(added());
            } else {
                Peer peer = there.get(random.nextInt(there.size()));
                if (what == 1) {
                    there.remove(peer);
                    peers.remove(peer);
                } else {
                    writable(peer, what == 2);
                    peers.becameWritable(peer);
                }
            }
            List<Peer> writable = there.stream().filter(Peer::isFree).toList();
            List<Peer> round = new ArrayList<>();
            there.forEach(peer -> peers.next()); // those that are full leave the round
            for (int n = 0; n < writable.size(); n++) {
                round.add(peers.next());
            }
            assertThat(round).containsExactlyInAnyOrderElementsOf(writable);
            assertThat(peers.size()).isEqualTo(there.size());
        }
    }
}
