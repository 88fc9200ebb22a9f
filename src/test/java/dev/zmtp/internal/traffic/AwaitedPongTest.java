package dev.zmtp.internal.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AwaitedPongTest {

    private final AwaitedPong pong = new AwaitedPong();

    @Test
    void nothingIsAwaitedBeforeItWasAsked() {
        assertThat(pong.isOpen()).isFalse();
        pong.answered(); // to nothing
        assertThat(pong.isOpen()).isFalse();
    }

    @Test
    void allThatWasWrittenBeforeTheFirstPingMayBeUnread() {
        pong.asked(1_000);
        assertThat(pong.isOpen()).isTrue();
        assertThat(pong.bytesBefore()).isEqualTo(1_000);
    }

    @Test
    void anAnswerShowsThatAllBeforeItsPingWasRead() {
        pong.asked(1_000);
        pong.answered();
        assertThat(pong.isOpen()).isFalse();
        pong.asked(1_009);
        assertThat(pong.bytesBefore()).isEqualTo(9);
    }

    @Test
    void anAnswerThatNobodyAwaitsShowsNothing() {
        pong.asked(1_000);
        pong.answered();
        pong.answered();
        pong.asked(5_000);
        assertThat(pong.bytesBefore()).isEqualTo(4_000);
    }
}
