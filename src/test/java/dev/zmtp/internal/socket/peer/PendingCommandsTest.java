package dev.zmtp.internal.socket.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What a publisher is told when it reads again. */
class PendingCommandsTest {

    private final PendingCommands commands = new PendingCommands();

    @Test
    void aSubscriptionAndItsCancelAreNothingToTell() {
        commands.add(ZMTPSubscription.subscribe("A"));
        commands.add(ZMTPSubscription.subscribe("B"));
        commands.add(ZMTPSubscription.cancel("A"));

        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("B"));
        assertThat(commands.poll()).isNull();
    }

    @Test
    void aCancelAndANewSubscriptionAreNothingToTell() {
        commands.add(ZMTPSubscription.cancel("A"));
        commands.add(ZMTPSubscription.subscribe("A"));

        assertThat(commands.isEmpty()).isTrue();
    }

    @Test
    void aTopicThatChangesAgainAndAgainIsOneCommand() {
        for (int i = 0; i < 1_000; i++) {
            commands.add(ZMTPSubscription.subscribe("A"));
            commands.add(ZMTPSubscription.cancel("A"));
        }
        commands.add(ZMTPSubscription.subscribe("A"));

        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("A"));
        assertThat(commands.isEmpty()).isTrue();
    }

    @Test
    void theSameHoldsForGroups() {
        commands.add(ZMTPMembership.join(Unpooled.wrappedBuffer(new byte[] {'A'})));
        commands.add(ZMTPMembership.leave(Unpooled.wrappedBuffer(new byte[] {'A'})));

        assertThat(commands.isEmpty()).isTrue();
    }

    /** So that a publisher sends all that is wanted while one topic replaces another. */
    @Test
    void theyLeaveInTheOrderInWhichTheyWereAdded() {
        List<ZMTPSubscription> added = List.of(
                ZMTPSubscription.subscribe("ab"),
                ZMTPSubscription.cancel("a"),
                ZMTPSubscription.subscribe("Z"),
                ZMTPSubscription.cancel("b"),
                ZMTPSubscription.subscribe("c"));
        added.forEach(commands::add);

        for (ZMTPSubscription next : added) {
            assertThat(commands.poll()).isEqualTo(next);
        }
        assertThat(commands.isEmpty()).isTrue();
        assertThat(commands.bytes()).isZero();
    }

    @Test
    void cancelsComeAfterTheCommandsOfASupplier() {
        Queue<Object> others = new ArrayDeque<>(List.of(ZMTPSubscription.subscribe("ab")));
        commands.addAll(others::poll);
        commands.add(ZMTPSubscription.cancel("a"));
        commands.add(ZMTPSubscription.subscribe("Z"));

        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("ab"));
        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.cancel("a"));
        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("Z"));
        assertThat(commands.poll()).isNull();
        assertThat(commands.isEmpty()).isTrue();
    }

    @Test
    void cancelsDoNotWaitForASupplierThatNeverEnds() {
        commands.addAll(() -> ZMTPSubscription.subscribe("next"));
        for (int i = 0; i < 2_000; i++) {
            commands.add(ZMTPSubscription.cancel("" + i));
        }

        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.cancel("0"));
    }

    @Test
    void changesComeBeforeTheCommandsOfASupplier() {
        Queue<Object> others = new ArrayDeque<>(List.of(ZMTPSubscription.subscribe("B")));
        commands.addAll(others::poll);
        commands.add(ZMTPSubscription.subscribe("A"));

        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("A"));
        assertThat(commands.isEmpty()).isFalse();
        assertThat(commands.poll()).isEqualTo(ZMTPSubscription.subscribe("B"));
        assertThat(commands.poll()).isNull();
        assertThat(commands.isEmpty()).isTrue();
    }

    @Test
    void thereAreNoCommandsAfterTheEnd() {
        commands.add(ZMTPSubscription.subscribe("A"));
        commands.addAll(() -> ZMTPSubscription.subscribe("B"));

        commands.close();
        commands.add(ZMTPSubscription.subscribe("A"));
        commands.addAll(() -> ZMTPSubscription.subscribe("B"));

        assertThat(commands.isEmpty()).isTrue();
        assertThat(commands.poll()).isNull();
        assertThat(commands.bytes()).isZero();
    }
}
