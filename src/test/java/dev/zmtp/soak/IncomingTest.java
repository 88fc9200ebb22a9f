package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class IncomingTest {

    private final Incoming incoming = new Incoming(7);

    private static Numbered message(long number) {
        return new Numbered(7, number, false);
    }

    private static Numbered end(long number) {
        return new Numbered(7, number, true);
    }

    @Test
    void aStreamInOrderIsAccepted() {
        assertThat(incoming.take(message(0))).isNull();
        assertThat(incoming.take(message(1))).isNull();
        assertThat(incoming.take(end(2))).isNull();

        assertThat(incoming).hasToString("0 to 2 of stream 7, with its end");
    }

    @Test
    void aLaterConnectionMayBeginInTheMiddle() {
        assertThat(incoming.take(message(5))).isNull();
        assertThat(incoming.take(message(6))).isNull();

        assertThat(incoming).hasToString("5 to 6 of stream 7");
    }

    @Test
    void aLostMessageIsNoticed() {
        incoming.take(message(0));

        assertThat(incoming.take(message(2)))
                .isEqualTo("message 2 of stream 7 came next (expected: 1): lost, or out of order");
    }

    @Test
    void aDuplicatedMessageIsNoticed() {
        incoming.take(message(0));
        incoming.take(message(1));

        assertThat(incoming.take(message(1))).isEqualTo("message 1 of stream 7 came again: duplicated");
    }

    @Test
    void reorderedMessagesAreNoticed() {
        incoming.take(message(0));
        incoming.take(message(2));

        assertThat(incoming.take(message(1))).isEqualTo("message 1 of stream 7 came behind 2: out of order");
    }

    @Test
    void aMessageFromBeforeTheFirstIsNoticed() {
        incoming.take(message(5));

        assertThat(incoming.take(message(4))).isEqualTo("message 4 of stream 7 came behind 5: out of order");
    }

    @Test
    void aMessageAfterTheEndIsNoticed() {
        incoming.take(end(0));

        assertThat(incoming.take(message(1))).isEqualTo("message 1 of stream 7 came behind the end");
    }

    @Test
    void anEndMayBeRepeatedWithTheNextNumber() {
        incoming.take(end(0));

        assertThat(incoming.take(end(1))).isNull();
    }
}
