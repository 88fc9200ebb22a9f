package dev.zmtp.internal.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.admission.ConnectionRegistry.Entry;
import dev.zmtp.internal.admission.ConnectionRegistry.Refusal;
import dev.zmtp.internal.runtime.AddressKey;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which connections count, which one goes for another, and that nothing is kept for those that are gone. */
class ConnectionRegistryTest {

    private static final int MAX_TOTAL = 12;
    private static final int MAX_PER_ADDRESS = 4;
    private static final int MAX_PER_USER = 2;

    private long now;

    private final ConnectionRegistry registry =
            new ConnectionRegistry("connections", MAX_TOTAL, MAX_PER_ADDRESS, () -> now);

    private Entry entry() {
        EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        return registry.entry(channel.pipeline().firstContext(), null);
    }

    private Entry counted(String address) {
        Entry entry = entry();
        assertThat(registry.add(entry, address)).isNull();
        return entry;
    }

    @Test
    void nothingIsKeptForConnectionsThatAreGone() {
        List<Entry> entries = List.of(counted("a"), counted("a"), counted("b"), counted(AddressKey.NONE));
        registry.move(entries.get(3), "c");
        registry.settle(entries.get(1));
        registry.countUser(entries.get(1), "alice", MAX_PER_USER);
        entries.forEach(registry::remove);
        assertThat(registry.size()).isZero();
        assertThat(registry.keys()).isZero();
    }

    @Test
    void aConnectionThatMovesLeavesNothingAtItsOldAddress() {
        Entry entry = counted("a");
        registry.move(entry, "b");
        assertThat(registry.keys()).isOne();
    }

    @Test
    void aConnectionThatIsRemovedTwiceCountsDownOnce() {
        Entry first = counted("a");
        Entry second = counted("a");
        registry.remove(first);
        registry.remove(first);
        assertThat(registry.size()).isOne();
        IntStream.range(1, MAX_PER_ADDRESS).forEach(i -> counted("a"));
        now += ConnectionRegistry.PATIENCE;
        assertThat(registry.add(entry(), "a").entry()).isSameAs(second);
    }

    @Test
    void aHandshakeThatEndsJustWhenItIsDroppedIsCountedAgain() {
        Entry first = counted("a");
        IntStream.range(1, MAX_PER_ADDRESS).forEach(i -> counted("a"));
        now += ConnectionRegistry.PATIENCE;
        assertThat(registry.add(entry(), "a").entry()).isSameAs(first);
        registry.settle(first);
        assertThat(registry.size()).isEqualTo(MAX_PER_ADDRESS + 1);
        assertThat(registry.find(first.ctx.channel())).isSameAs(first);
    }

    /** As on another thread, just before the handshake of the connection ends. */
    @Test
    void aConnectionThatIsRemovedBeforeItIsSettledIsNotCountedAgain() {
        Entry entry = counted("a");
        registry.remove(entry);
        registry.settle(entry);
        assertThat(registry.countUser(entry, "alice", MAX_PER_USER)).isNull();
        assertThat(registry.size()).isZero();
        assertThat(registry.keys()).isZero();
    }

    @Test
    void aSettledConnectionKeepsItsUserWhenItIsSettledAgainOrAnAddressIsSet() {
        Entry entry = counted("a");
        registry.settle(entry);
        registry.countUser(entry, "alice", MAX_PER_USER);
        registry.settle(entry);
        registry.move(entry, "b");
        assertThat(registry.keys()).isEqualTo(2);
        registry.remove(entry);
        assertThat(registry.keys()).isZero();
    }

    /** What a connection is in the model. */
    private static final class Model {
        /** The order in which their waits began. */
        private int number;

        private long since;
        private String address;
        private boolean isSettled;

        private Model(int number, long since, String address) {
            this.number = number;
            this.since = since;
            this.address = address;
        }
    }

    private final Map<Entry, Model> model = new LinkedHashMap<>();

    private long connections(String address) {
        return model.values().stream()
                .filter(one -> one.address.equals(address))
                .count();
    }

    private long handshakes(String address) {
        return model.values().stream()
                .filter(one -> !one.isSettled && one.address.equals(address))
                .count();
    }

    private boolean isOverdue(Model one) {
        return !one.isSettled && now - one.since >= ConnectionRegistry.PATIENCE;
    }

    /** It goes for {@code newcomer}, which is in the model only if it moves. */
    private void drop(Refusal refusal, Entry newcomer, String address) {
        Entry dropped = refusal.entry();
        Model gone = model.remove(dropped);
        boolean isOfTotal = !refusal.reason().contains("with");
        List<Model> others = new ArrayList<>(model.values());
        others.removeIf(one -> one == model.get(newcomer) || (!isOfTotal && !one.address.equals(address)));
        if (dropped == newcomer) {
            assertThat(others).noneMatch(this::isOverdue);
            return;
        }
        assertThat(gone.isSettled).isFalse();
        others.removeIf(one -> one.isSettled);
        assertThat(others)
                .filteredOn(one -> one.address.equals(gone.address))
                .allSatisfy(one -> assertThat(one.number).isGreaterThan(gone.number));
        long most = handshakes(gone.address) + 1; // with the one that is gone
        if (!isOverdue(gone)) {
            assertThat(isOfTotal).isTrue();
            assertThat(others).noneMatch(this::isOverdue).allMatch(one -> handshakes(one.address) <= most);
            assertThat(handshakes(address) + 1).isLessThan(most);
        } else if (isOfTotal) {
            assertThat(others)
                    .filteredOn(this::isOverdue)
                    .allSatisfy(one -> assertThat(handshakes(one.address)).isLessThanOrEqualTo(most));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5})
    void itAgreesWithASimplerOneWhateverHappens(int seed) {
        Random random = new Random(seed);
        String[] addresses = {"a", "b", "c", "d", "e", "f", AddressKey.NONE};
        for (int i = 0; i < 1000; i++) {
            String address = addresses[random.nextInt(addresses.length)];
            List<Entry> entries = new ArrayList<>(model.keySet());
            Entry any = entries.isEmpty() ? null : entries.get(random.nextInt(entries.size()));
            int action = random.nextInt(10);
            now += random.nextLong(ConnectionRegistry.PATIENCE / 8);
            if (any == null || action < 5) {
                Entry newcomer = entry();
                Refusal refusal = registry.add(newcomer, address);
                if (refusal != null) {
                    drop(refusal, newcomer, address);
                }
                if (refusal == null || refusal.entry() != newcomer) {
                    model.put(newcomer, new Model(i, now, address));
                }
            } else if (action < 7) {
                Refusal refusal = registry.move(any, address);
                if (refusal != null) {
                    drop(refusal, any, address);
                }
                Model moved = model.get(any);
                if (moved != null && !moved.isSettled && !moved.address.equals(address)) {
                    moved.address = address;
                    moved.number = i;
                    moved.since = now;
                }
            } else if (action < 8 && random.nextBoolean()) {
                registry.answered(any.ctx.channel());
                model.get(any).number = i;
                model.get(any).since = now;
            } else if (action < 8) {
                registry.settle(any);
                model.get(any).isSettled = true;
            } else {
                registry.remove(any);
                model.remove(any);
            }
            assertThat(registry.size()).isEqualTo(model.size()).isLessThanOrEqualTo(MAX_TOTAL);
            for (String one : addresses) {
                assertThat(connections(one)).isLessThanOrEqualTo(one.isEmpty() ? MAX_TOTAL : MAX_PER_ADDRESS);
            }
        }
        assertThat(model.keySet())
                .allSatisfy(one -> assertThat(registry.find(one.ctx.channel())).isSameAs(one));
        model.keySet().forEach(registry::remove);
        assertThat(registry.keys()).isZero();
    }

    @Test
    void ofAddressesWithEquallyManyTheOneWithTheLongestWaitMakesRoom() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < MAX_TOTAL; i++) {
            entries.add(counted("address " + i));
        }
        now += ConnectionRegistry.PATIENCE;
        for (int i = 0; i < MAX_TOTAL; i++) {
            assertThat(registry.add(entry(), "newcomer " + i).entry()).isSameAs(entries.get(i));
        }
    }
}
