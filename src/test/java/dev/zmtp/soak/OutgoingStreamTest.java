package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutgoingStreamTest {

    private final OutgoingStream outgoing = new OutgoingStream(7, true);

    @Test
    void messagesAreNumberedFromZero() {
        assertThat(outgoing.next(false)).isEqualTo(new Numbered(7, 0, false));
        assertThat(outgoing.next(true)).isEqualTo(new Numbered(7, 1, true));
    }

    @Test
    void aPromiseThatCompletesTwiceIsNoticed() {
        outgoing.next(false);

        assertThat(outgoing.completed(0, true)).isNull();
        assertThat(outgoing.completed(0, false)).isEqualTo("promise of message 0 of stream 7 completed again");
    }

    @Test
    void aPromiseThatSucceedsAfterAFailedOneIsNoticed() {
        outgoing.next(false);
        outgoing.next(false);

        assertThat(outgoing.completed(0, false)).isNull();
        assertThat(outgoing.completed(1, true))
                .isEqualTo("promise of message 1 of stream 7 succeeded (expected: failed, as 0 before it)");
    }

    @Test
    void aPromiseThatDoesNotCompleteIsCounted() {
        outgoing.next(false);
        outgoing.next(false);
        outgoing.completed(1, true);

        assertThat(outgoing.pending()).isEqualTo(1);
    }

    @Test
    void aStreamWithoutPromisesWaitsForNoPromise() {
        OutgoingStream foreign = new OutgoingStream(7, false);
        foreign.next(false);

        assertThat(foreign.pending()).isZero();
    }
}
