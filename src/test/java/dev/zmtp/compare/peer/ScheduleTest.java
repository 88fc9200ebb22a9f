package dev.zmtp.compare.peer;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ScheduleTest {

    @Test
    void messagesAreDueAtTheRateFromTheStart() {
        Schedule schedule = new Schedule(1000);
        long start = schedule.due();

        for (int i = 0; i < 1500; i++) {
            schedule.next();
        }

        assertThat(schedule.due()).isEqualTo(start + 1_500_000_000L);
        assertThat(schedule.isLate(start + 1_501_000_000L)).isFalse();
        assertThat(schedule.isLate(start + 1_501_000_001L)).isTrue();
    }

    @Test
    void aRestartDropsWhatIsOverdueOnceAndPauses() {
        Schedule schedule = new Schedule(1000);
        long later = schedule.due() + 5_000_000_000L;

        assertThat(schedule.begin(later)).isFalse();
        schedule.restart();

        assertThat(schedule.begin(later)).isTrue();
        assertThat(schedule.due()).isEqualTo(later + 200_000_000);
        schedule.next();
        assertThat(schedule.begin(later + 7)).isFalse();
        assertThat(schedule.due()).isEqualTo(later + 201_000_000);
    }
}
