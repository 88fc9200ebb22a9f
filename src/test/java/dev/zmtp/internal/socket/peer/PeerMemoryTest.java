package dev.zmtp.internal.socket.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a socket keeps for one peer, in a budget of 1,000,000 bytes. */
class PeerMemoryTest {

    private static final int LIMIT = 1_000_000;

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context = ClockedSockets.context(
            ZMTPSocketConfig.builder(ZMTPSocketType.ROUTER).build(), clock.eventLoop(), () -> 1);
    private final MemoryLedger ledger = new MemoryLedger(LIMIT);
    private final List<ZMTPException> ends = new ArrayList<>();
    private final PeerMemory memory = memory();

    private PeerMemory memory() {
        PeerMemory created = new PeerMemory(context, true, ends::add);
        created.in(new Session(
                ZMTPConfig.builder().socketType(ZMTPSocketType.ROUTER).build(), ledger));
        return created;
    }

    @AfterEach
    void close() {
        clock.finishAndReleaseAll();
    }

    @Test
    void aKibibyteIsCountedAtOnceAndLessIsNot() {
        memory.inbound(1 << 10);
        assertThat(ledger.used()).isZero();
        memory.inbound(1);
        assertThat(ledger.used()).isEqualTo((1 << 10) + 1);
    }

    @Test
    void nothingIsCountedWhenAllHasBeenTaken() {
        memory.inbound(5_000);
        memory.queued(3_000);
        memory.commands(4_000);
        memory.served(2_000);
        assertThat(ledger.used()).isEqualTo(14_000);

        memory.inbound(-5_000);
        memory.queued(-3_000);
        memory.commands(-4_000);
        memory.served(-2_000);

        assertThat(ledger.used()).isZero();
    }

    @Test
    void aPeerMayKeepSixtyFourKibibytesHoweverLittleIsLeft() {
        memory().inbound(900_000);
        memory.inbound(64 << 10);
        assertThat(memory.hasMuchToReceive()).isFalse();
        memory.inbound(1);
        assertThat(memory.hasMuchToReceive()).isTrue();
    }

    @Test
    void aPeerMayKeepAThirdOfTheBudget() {
        memory.inbound(LIMIT / 3);
        assertThat(memory.hasMuchToReceive()).isFalse();
        memory.inbound(2_000);
        assertThat(memory.hasMuchToReceive()).isTrue();
    }

    @Test
    void whatWaitsToBeSentDoesNotHinderWhatIsReceived() {
        memory.queued(LIMIT / 2);
        assertThat(memory.hasMuchToSend()).isTrue();
        assertThat(memory.hasMuchToReceive()).isFalse();
        assertThat(memory.hasMuchServed()).isFalse();
    }

    @Test
    void commandsThatWaitToBeSentRefuseNoMessage() {
        memory.commands(LIMIT / 2);
        assertThat(memory.hasMuchToSend()).isFalse();
        assertThat(ledger.used()).isEqualTo(LIMIT / 2);
    }

    @Test
    void thePeerThatHasMostGivesItBackOnItsEventLoop() {
        memory.queued(LIMIT);
        PeerMemory other = memory();
        other.inbound(10_000);
        assertThat(ends).isEmpty();

        clock.runPendingTasks();

        assertThat(ends)
                .singleElement()
                .satisfies(end -> assertThat(end.code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET));
        assertThat(ledger.used()).isEqualTo(10_000);
    }

    /** Such as the rest of a large message, before which nothing leaves the queue. */
    @Test
    void aPeerThatReadsWhatWasNotQueuedDoesNotPayForOneThatDoesNotRead() {
        memory.queued(LIMIT / 10 * 6);
        PeerMemory other = memory();
        other.queued(LIMIT / 10 * 3);
        memory.transferred(5 * LIMIT);

        memory().inbound(LIMIT / 10 * 2);

        assertThat(ledger.used()).isEqualTo(LIMIT / 10 * 8);
    }

    @Test
    void whatIsKeptAfterThatIsCountedAgain() {
        memory.queued(LIMIT + 1);
        clock.runPendingTasks();
        assertThat(ends).hasSize(1);
        memory.queued(-LIMIT - 1);
        memory.dropped();

        memory.inbound(5_000);

        assertThat(ledger.used()).isEqualTo(5_000);
    }

    /** A sender that hears of a dropped message may send another at once. */
    @Test
    void whatWasQueuedMeanwhileIsCountedToo() {
        memory.queued(LIMIT + 1);
        clock.runPendingTasks();
        memory.queued(-LIMIT - 1);
        memory.queued(3_000);

        memory.dropped();

        assertThat(ledger.used()).isEqualTo(3_000);
    }

    @Test
    void smallMessagesThatComeAndGoAreNotCountedEachTime() {
        memory.connected(true);
        memory.inbound(3_000);
        memory.inbound(-3_000);
        assertThat(ledger.used()).isEqualTo(3_000);

        memory.connected(false);
        memory.inbound(0);

        assertThat(ledger.used()).isZero();
    }

    @Test
    void requestsThatAHandlerHasEndNoConnection() {
        memory.served(LIMIT + 1);
        memory().inbound(10_000);
        clock.runPendingTasks();
        assertThat(ends).hasSize(1); // of the other one, as nothing else can be given back

        memory.served(-LIMIT - 1);
        assertThat(ledger.used()).isZero();
    }

    /** Of two that keep as much, the one goes whose messages were only dropped. */
    @Test
    void whatWasDroppedHasNotMoved() {
        PeerMemory reader = memory();
        reader.queued(LIMIT / 2);
        memory.queued(LIMIT / 2);
        reader.moved(1 << 30);
        reader.queued(-10_000);
        memory.queued(-5_000);

        memory().inbound(30_000);
        clock.runPendingTasks();

        assertThat(ends).hasSize(1);
        assertThat(ledger.used()).isEqualTo(LIMIT / 2 - 10_000 + 30_000);
    }
}
