package dev.zmtp.internal.socket.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.TestSockets;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests by their ids. */
class AskedTableTest {

    private static final int SALT = 0x7F00_0000;

    private static PendingRequest add(AskedTable table) {
        PendingRequest request = new PendingRequest(null, TestSockets.message("?"), Long.MAX_VALUE, null);
        request.message().release();
        request.id = SALT | table.next();
        table.add(request);
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
        table.remove(first);
        assertThat(table.get(first.id)).isNull();
        assertThat(table.all(request -> true)).containsExactly(second);
    }

    @Test
    void itKnowsWhichIdsItHasGiven() {
        AskedTable table = new AskedTable(0xFF, 253);
        assertThat(IntStream.range(0, 256)).noneMatch(table::wasGiven);
        for (int i = 0; i < 3; i++) {
            table.remove(add(table));
        }
        assertThat(IntStream.range(0, 256).filter(table::wasGiven)).containsExactly(0, 254, 255);
        assertThat(table.wasGiven(SALT | 254)).isTrue();
        for (int i = 0; i < 1_000; i++) {
            table.remove(add(table));
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
            table.remove(request);
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
                table.remove(next);
                model.remove(next.id);
            }
        }
        assertThat(table.get(old.id)).isSameAs(old);
        assertThat(table.all(request -> request != old)).containsExactlyInAnyOrderElementsOf(List.copyOf(young));
    }
}
