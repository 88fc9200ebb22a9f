package dev.zmtp.internal.socket.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests by their ids. */
class AskedTableTest {

    private static final int SALT = 0x7F00_0000;

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final Peer peer = newPeer();

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    private Peer newPeer() {
        SocketContext context = ClockedSockets.context(
                ZMTPSocketConfig.builder(ZMTPSocketType.DEALER).build(), clock.eventLoop(), () -> 1);
        return new RecordedOwner(context).newPeer(null);
    }

    private PendingRequest add(AskedTable table) {
        return add(table, peer);
    }

    private static PendingRequest add(AskedTable table, Peer peer) {
        PendingRequest request = new PendingRequest(null, TestSockets.message("?"), Long.MAX_VALUE, null);
        request.message().release();
        request.id = SALT | table.next();
        table.add(peer, request);
        return request;
    }

    @Test
    void eachIsFoundByItsIdAndByNoOther() {
        AskedTable table = new AskedTable(0xFF_FFFF, 41);
        PendingRequest first = add(table);
        PendingRequest second = add(table);
        assertThat(first.id).isEqualTo(SALT | 42);
        assertThat(table.get(first.id)).isSameAs(first);
        assertThat(table.get(second.id)).isSameAs(second);
        assertThat(table.get(first.id + 64)).isNull(); // the same place
        table.remove(peer, first);
        assertThat(table.get(first.id)).isNull();
        assertThat(table.all()).containsExactly(second);
    }

    @Test
    void itKnowsWhichIdsItHasGiven() {
        AskedTable table = new AskedTable(0xFF, 253);
        assertThat(IntStream.range(0, 256)).noneMatch(table::wasGiven);
        for (int i = 0; i < 3; i++) {
            table.remove(peer, add(table));
        }
        assertThat(IntStream.range(0, 256).filter(table::wasGiven)).containsExactly(0, 254, 255);
        assertThat(table.wasGiven(SALT | 254)).isTrue();
        for (int i = 0; i < 1_000; i++) {
            table.remove(peer, add(table));
        }
        assertThat(IntStream.range(0, 256)).allMatch(table::wasGiven);
    }

    @Test
    void theIdOfOneThatHasEndedComesAgainOnlyAfterAllOthers() {
        AskedTable table = new AskedTable(0xFF, 250);
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 256; i++) {
            PendingRequest request = add(table);
            assertThat(seen.add(request.id)).isTrue();
            table.remove(peer, request);
        }
        assertThat(seen).contains(add(table).id);
    }

    @Test
    void anOldRequestKeepsItsIdWhileTheOthersGoRoundAndTheTableGrows() {
        Random random = new Random(3);
        AskedTable table = new AskedTable(0xFFF, 0);
        Map<Integer, PendingRequest> model = new HashMap<>();
        Queue<PendingRequest> young = new ArrayDeque<>();
        PendingRequest old = add(table);
        for (int i = 0; i < 20_000; i++) {
            if (young.size() < 700 && random.nextInt(5) > 1) {
                PendingRequest next = add(table);
                assertThat(model.put(next.id, next)).isNull();
                young.add(next);
            } else if (!young.isEmpty()) {
                PendingRequest next = young.remove();
                assertThat(table.get(next.id)).isSameAs(next);
                table.remove(peer, next);
                model.remove(next.id);
            }
        }
        assertThat(table.get(old.id)).isSameAs(old);
        assertThat(AskedTable.allOf(peer)).first().isSameAs(old);
        assertThat(AskedTable.allOf(peer).subList(1, 1 + young.size())).containsExactlyElementsOf(young);
        assertThat(table.all()).containsExactlyInAnyOrderElementsOf(AskedTable.allOf(peer));
    }

    /** Their number does not depend on those of other peers. */
    @Test
    void eachPeerHasItsOwnInTheirOrder() {
        AskedTable table = new AskedTable(0xFFF, 0);
        Peer other = newPeer();
        PendingRequest first = add(table, peer);
        assertThat(AskedTable.onlyOf(peer)).isSameAs(first);
        assertThat(AskedTable.onlyOf(other)).isNull();
        PendingRequest its = add(table, other);
        PendingRequest second = add(table, peer);
        PendingRequest third = add(table, peer);
        assertThat(AskedTable.onlyOf(peer)).isNull();
        assertThat(AskedTable.allOf(peer)).containsExactly(first, second, third);

        table.remove(peer, second);
        assertThat(AskedTable.allOf(peer)).containsExactly(first, third);
        table.remove(peer, third);
        assertThat(AskedTable.onlyOf(peer)).isSameAs(first);
        PendingRequest fourth = add(table, peer);
        table.remove(peer, first);
        assertThat(AskedTable.onlyOf(peer)).isSameAs(fourth);
        table.remove(peer, fourth);
        assertThat(AskedTable.allOf(peer)).isEmpty();
        assertThat(AskedTable.allOf(other)).containsExactly(its);
    }
}
