package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A turn of one connection is bounded in frames, and in time if it has many. */
class ReadBudgetTest {

    private static final long MILLISECOND = 1_000_000;

    private long nanos = Long.MAX_VALUE - 10; // so that the clock runs over, as System.nanoTime may
    private int looks;

    private ReadBudget turn(int maxFrames) {
        return new ReadBudget(maxFrames, () -> {
            looks++;
            return nanos;
        });
    }

    private static void count(ReadBudget turn, int frames) {
        for (int i = 0; i < frames; i++) {
            turn.count();
        }
    }

    @Test
    void aTurnIsOverAfterItsFrames() {
        ReadBudget turn = turn(1000);
        count(turn, 999);
        assertThat(turn.isOver()).isFalse();
        turn.count();
        assertThat(turn.isOver()).isTrue();
    }

    @Test
    void theTransportMayBringMoreInTheFirstHalf() {
        ReadBudget turn = turn(1000);
        count(turn, 499);
        assertThat(turn.hasRoom()).isTrue();
        turn.count();
        assertThat(turn.hasRoom()).isFalse();
    }

    @Test
    void aTurnIsOverAMillisecondAfterTheFirstLookAtTheClock() {
        ReadBudget turn = turn(64 * 4);
        count(turn, 64);
        nanos += MILLISECOND;
        count(turn, 64);
        assertThat(turn.isOver()).isFalse();
        nanos++;
        count(turn, 63);
        assertThat(turn.isOver()).isFalse();
        turn.count();
        assertThat(turn.isOver()).isTrue();
        assertThat(turn.hasRoom()).isFalse();
    }

    @Test
    void theTimeBetweenTwoTurnsDoesNotCount() {
        ReadBudget turn = turn(64 * 4);
        count(turn, 64);
        turn.begin();
        nanos += MILLISECOND + 1;
        count(turn, 64);
        assertThat(turn.isOver()).isFalse();
    }

    @Test
    void aTurnThatWasEndedByTheClockIsFollowedByAWholeOne() {
        ReadBudget turn = turn(64 * 4);
        count(turn, 64);
        nanos += MILLISECOND + 1;
        count(turn, 64);
        turn.begin();
        count(turn, 64 * 4 - 1);
        assertThat(turn.isOver()).isFalse();
        turn.count();
        assertThat(turn.isOver()).isTrue();
    }

    @Test
    void theClockIsNotReadForAFewFrames() {
        ReadBudget turn = turn(2048);
        for (int i = 0; i < 100; i++) {
            count(turn, 63);
            turn.begin();
        }
        assertThat(looks).isZero();
    }
}
