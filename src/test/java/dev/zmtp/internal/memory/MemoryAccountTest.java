package dev.zmtp.internal.memory;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.admission.LimitedSession;
import dev.zmtp.internal.connection.Session;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The share of one connection in a budget, without a connection. */
class MemoryAccountTest {

    private static final int LIMIT = 100_000;

    /** The bytes that a new peer has credit for, less one. */
    private static final int CREDIT = 65_535;

    /** As long as the pause of a peer that has just moved something counts. */
    private static final double PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private final MemoryLedger ledger = new MemoryLedger(LIMIT);
    private final List<ZMTPException> ends = new ArrayList<>();

    private MemoryAccount account() {
        return account(ledger);
    }

    private MemoryAccount account(MemoryLedger of) {
        return new MemoryAccount(session(of), true, Runnable::run, ends::add);
    }

    private static LimitedSession session(MemoryLedger of) {
        return new Session(ZMTPConfig.builder().socketType(DEALER).build(), of);
    }

    // Counting

    @Test
    void whatIsReservedCountsAtOnce() {
        MemoryAccount account = account();
        account.keep(100);
        account.reserve(50);
        assertThat(ledger.used()).isEqualTo(150);
        account.keep(120); // what it really was
        assertThat(ledger.used()).isEqualTo(120);
    }

    @Test
    void allOfTheBudgetMayBeReservedAndNotAByteMore() {
        MemoryAccount account = account();
        account.keep(1000);
        account.reserve(LIMIT - 1000);
        assertThat(ledger.used()).isEqualTo(LIMIT);
        assertThatThrownBy(() -> account.reserve(1))
                .isInstanceOf(ZMTPException.class)
                .hasMessageContaining("100001")
                .hasMessageContaining("100000");
        assertThat(ends).isEmpty();
    }

    @Test
    void aBudgetThatIsFullToTheLastByteEndsNobody() {
        account().keep(LIMIT - 1);
        account().keep(1);
        assertThat(ledger.used()).isEqualTo(LIMIT);
        assertThat(ends).isEmpty();
    }

    @Test
    void roomIsAlsoMadeForWhatOthersTakeInTheMeantime() {
        MemoryAccount another = account();
        MemoryAccount first = new MemoryAccount(session(ledger), true, task -> another.keep(LIMIT / 10 * 9), ends::add);
        first.keep(LIMIT / 10 * 6);

        account().keep(LIMIT / 2);

        assertThat(first.hasEnded()).isTrue();
        assertThat(ledger.used()).isLessThanOrEqualTo(LIMIT);
    }

    @Test
    void aClosedAccountCountsNoMore() {
        MemoryAccount account = account();
        account.keep(100);
        account.close();
        account.keep(200);
        account.close();
        assertThat(ledger.used()).isZero();
    }

    @Test
    void theBudgetForgetsAClosedAccount() throws InterruptedException {
        assertForgotten(100);
    }

    @Test
    void theBudgetForgetsAClosedAccountThatKeepsNothingAnyMore() throws InterruptedException {
        assertForgotten(0);
    }

    private void assertForgotten(long keptAtTheEnd) throws InterruptedException {
        MemoryAccount account = account();
        account.keep(100);
        account.keep(keptAtTheEnd);
        account.close();
        WeakReference<MemoryAccount> forgotten = new WeakReference<>(account);
        account = null;
        for (int i = 0; i < 100 && forgotten.get() != null; i++) {
            System.gc();
            Thread.onSpinWait();
        }
        assertThat(forgotten.get()).isNull();
    }

    // Making room

    @Test
    void oneThatIsEndedToMakeRoomIsTold() {
        MemoryAccount account = account();
        account.keep(100);
        assertThat(account.endConnection()).isEqualTo(100);
        assertThat(account.endConnection()).isZero();
        assertThat(ends).hasSize(1);
        assertThat(ends.get(0).code()).isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
        assertThat(ledger.used()).isZero();
    }

    /** It would go on, and what it keeps from then on would not count. */
    @Test
    void oneThatKeepsNothingIsNotEndedAndCountsOn() {
        MemoryAccount account = account();
        account.keep(100);
        account.keep(0);
        assertThat(account.endConnection()).isZero();
        assertThat(ends).isEmpty();
        account.keep(70);
        assertThat(ledger.used()).isEqualTo(70);
    }

    @Test
    void oneWhoseEventLoopHasEndedMakesRoomAllTheSame() {
        MemoryAccount account = new MemoryAccount(
                session(ledger),
                true,
                task -> {
                    throw new RejectedExecutionException();
                },
                ends::add);
        account.keep(100);
        assertThat(account.endConnection()).isEqualTo(100);
        assertThat(ledger.used()).isZero();
    }

    @Test
    void asMuchRoomIsMadeThatTheNextOneNeedsNone() {
        for (int i = 0; i < 100; i++) {
            account().keep(1_000);
        }
        account().keep(1);
        assertThat(ledger.used()).isBetween(LIMIT - LIMIT / 16 - 1_000L, LIMIT - LIMIT / 16L);
        assertThat(ends).hasSize(7);
    }

    /** Connections end on other threads too, while room is made. */
    @Test
    void oneThatHasEndedMeanwhileDoesNotCountAsEndedToMakeRoom() {
        MemoryAccount second = account();
        MemoryAccount first = new MemoryAccount(session(ledger), true, Runnable::run, failure -> second.close());
        first.keep(6_000);
        second.keep(4_100); // little above what is free, so that the first goes first however old they are
        MemoryAccount busy = account();
        busy.moved(1 << 30);
        busy.keep(LIMIT - 10_000);
        assertThat(ends).hasSize(1); // the busy one, as the first alone has not made enough room
        assertThat(ledger.used()).isZero();
        assertThat(ledger.endedConnections()).isEqualTo(2);
    }

    // Who is passed over

    @Test
    void oneThatKeepsNoMoreThanFourKibibytesIsNotEnded() {
        account().keep(4096);
        MemoryAccount busy = account();
        busy.moved(1L << 40);
        busy.keep(LIMIT - 4095);
        assertThat(ends).singleElement(THROWABLE).hasMessageContaining("95905 bytes for this connection");
        assertThat(ledger.used()).isEqualTo(4096);
    }

    @Test
    void oneThatKeepsMoreMayBeEndedBeforeOneThatHasMovedMuch() {
        account().keep(4097);
        MemoryAccount busy = account();
        busy.moved(1L << 40);
        busy.keep(LIMIT - 4096);
        assertThat(ends).hasSize(2).first(THROWABLE).hasMessageContaining("4097 bytes for this connection");
    }

    /** Otherwise as many strangers as that takes could fill the budget with a little each. */
    @Test
    void thoseThatArePassedOverKeepNoMoreThanAQuarterOfTheLimit() {
        assertThat(ledger.freeShare(6)).isEqualTo(4096);
        assertThat(ledger.freeShare(25)).isEqualTo(1000);
        assertThat(ledger.freeShare(LIMIT)).isZero();
        for (int i = 0; i < 2_000; i++) {
            account().keep(51);
        }
        assertThat(ledger.used()).isLessThanOrEqualTo(LIMIT);
        assertThat(ends).isNotEmpty();
    }

    // Who is a burden

    private static double burden(MemoryAccount account, long now) {
        return burden(account, 0, now);
    }

    private static double burden(MemoryAccount account, long free, long now) {
        account.noteMoves(now);
        return account.burden(free, now) / PAUSE;
    }

    @Test
    void theBurdenIsWhatIsKeptInProportionToWhatHasMoved() {
        long now = System.nanoTime();
        MemoryAccount account = account();
        account.keep(3 * (CREDIT + 1));
        account.moved(1);
        assertThat(burden(account, now)).isCloseTo(3, within(0.001));
        account.moved(CREDIT + 1);
        assertThat(burden(account, now)).isCloseTo(1.5, within(0.001));
    }

    @Test
    void theBurdenGrowsWithTheTimeInWhichNothingMoves() {
        long now = System.nanoTime();
        MemoryAccount account = account();
        account.keep(CREDIT + 1);
        account.moved(1);
        assertThat(burden(account, now)).isCloseTo(1, within(0.001));
        assertThat(burden(account, now + TimeUnit.MILLISECONDS.toNanos(10))).isCloseTo(2, within(0.001));
        assertThat(burden(account, now + TimeUnit.SECONDS.toNanos(10))).isCloseTo(1001, within(0.1));
        assertThat(burden(account, now + TimeUnit.SECONDS.toNanos(100))).isCloseTo(1001, within(0.1));
    }

    @Test
    void whatMovesEndsThatTime() {
        long now = System.nanoTime();
        MemoryAccount account = account();
        account.keep(CREDIT + 1);
        account.moved(1);
        burden(account, now);
        account.moved(1);
        assertThat(burden(account, now + TimeUnit.SECONDS.toNanos(5))).isCloseTo(1, within(0.001));
    }

    /** It sent a little long ago, and the other trickles now: the time alone must not make it the greater burden. */
    @Test
    void aConnectionThatKeepsNextToNothingIsLessABurdenThanOneThatKeepsMuchAndTrickles() {
        MemoryLedger large = new MemoryLedger(10_000_000);
        MemoryAccount idle = account(large);
        idle.moved(110);
        idle.keep(345);
        MemoryAccount heavy = account(large);
        heavy.moved(600_000);
        heavy.keep(600_000);
        long now = System.nanoTime();
        long free = large.freeShare(2);
        burden(idle, free, now);
        burden(heavy, free, now);
        heavy.moved(1);
        long later = now + TimeUnit.SECONDS.toNanos(10);
        assertThat(burden(heavy, free, later)).isGreaterThan(burden(idle, free, later));
    }
}
