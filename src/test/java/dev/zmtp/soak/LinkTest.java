package dev.zmtp.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LinkTest {

    private final StringWriter printed = new StringWriter();
    private final Violations violations = new Violations(new PrintWriter(printed), 42);
    private final Link link =
            new Link("1-2", Plan.draw(1, 2, 3, Implementation.NETTY_ZMTP), Link.Sight.WHOLE, new Totals(), violations);
    private final Link.Inbox inbox = link.new Inbox("server", true);

    private static ZMTPMessage message(Numbered numbered) {
        return numbered.toMessage(new UnpooledByteBufAllocator(false), new Random(1));
    }

    private static void complete(OutgoingStream stream, boolean success) {
        for (int i = 0; i < stream.written(); i++) {
            stream.completed(i, success);
        }
    }

    private List<String> judged() {
        link.judge();
        return violations.found();
    }

    @Test
    void aCompleteStreamIsAccepted() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(false)));
        inbox.take(message(sent.next(true)));
        complete(sent, true);

        assertThat(judged()).isEmpty();
    }

    @Test
    void aLostTailWithoutAFaultIsNoticed() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(false)));
        sent.next(true);
        complete(sent, true);

        assertThat(judged()).singleElement().asString().startsWith("not all arrived");
    }

    @Test
    void aLostTailAfterABreakingFaultIsAccepted() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(false)));
        sent.next(true);
        complete(sent, true);
        link.broke("for this test");

        assertThat(judged()).isEmpty();
    }

    @Test
    void aLostBeginningIsNoticedEvenAfterABreakingFault() {
        OutgoingStream sent = link.newOutgoing(true);
        sent.next(false);
        inbox.take(message(sent.next(false)));
        complete(sent, true);
        link.broke("for this test");

        assertThat(judged()).singleElement().asString().startsWith("lost: 0 to 0 before 1 to 1 of stream");
    }

    @Test
    void aStreamWithoutAnEndIsNoticed() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(false)));
        complete(sent, true);

        assertThat(judged()).singleElement().asString().startsWith("not all arrived");
    }

    @Test
    void aFailedPromiseWithoutAFaultIsNoticed() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(true)));
        complete(sent, false);

        assertThat(judged()).singleElement().asString().startsWith("promises that failed, although");
    }

    @Test
    void aPromiseThatNeverCompletesIsNoticed() {
        OutgoingStream sent = link.newOutgoing(true);
        inbox.take(message(sent.next(true)));
        link.broke("for this test");

        assertThat(judged()).singleElement().asString().startsWith("promises that never completed");
    }

    @Test
    void aMessageThatArrivesOnTwoConnectionsIsNoticed() {
        OutgoingStream sent = link.newOutgoing(false);
        Numbered first = sent.next(false);
        Numbered second = sent.next(true);
        inbox.take(message(first));
        inbox.take(message(second));
        link.new Inbox("server", true).take(message(second));
        link.broke("for this test");

        assertThat(judged()).singleElement().asString().startsWith("duplicated");
    }

    @Test
    void aMessageThatWasNeverSentIsNoticed() {
        inbox.take(message(new Numbered(99, 0, false)));

        assertThat(judged()).containsExactly("received, but never sent on this link: 0 to 0 of stream 99");
    }

    @Test
    void moreThanWasSentIsNoticed() {
        OutgoingStream sent = link.newOutgoing(false);
        inbox.take(message(sent.next(false)));
        inbox.take(message(new Numbered(sent.stream(), 1, false)));
        link.broke("for this test");

        assertThat(judged()).singleElement().asString().startsWith("received ").contains("but sent only 1 written");
    }

    @Test
    void aMessageOfAnotherStreamIsNoticedAtOnce() {
        inbox.take(message(new Numbered(98, 0, false)));
        inbox.take(message(new Numbered(99, 0, false)));

        assertThat(violations.found()).containsExactly("server: a message of stream 99 (expected: only of 98)");
    }

    @Test
    void aTornMessageIsNoticedAtOnce() {
        ZMTPMessage message = ZMTPMessage.fromUTF8("what is this?");
        inbox.take(message);
        message.release();

        assertThat(violations.found()).singleElement().asString().startsWith("server: torn: first frame: 13 bytes");
    }

    @Test
    void aStreamFromAnotherProcessMustEndIfThereWasNoFault() {
        Link seen = new Link("1", Plan.draw(1, 2, 3, Implementation.LIBZMQ), Link.Sight.PEER, new Totals(), violations);
        seen.new Inbox("peer", false).take(message(new Numbered(99, 0, false)));
        seen.judge();

        assertThat(violations.found())
                .containsExactly("not all arrived, although nothing was done to the connection: 0 to 0 of stream 99");
    }

    @Test
    void aStreamFromAServerElsewhereBeginsAtZero() {
        Link seen = new Link("1", Plan.draw(1, 2, 3, Implementation.LIBZMQ), Link.Sight.PEER, new Totals(), violations);
        seen.new Inbox("peer", false).take(message(new Numbered(99, 1, true)));
        seen.judge();

        assertThat(violations.found()).containsExactly("lost: what came before 1 to 1 of stream 99, with its end");
    }

    @Test
    void aConnectionFromElsewhereIsCheckedWhenItIsClosed() {
        Link seen = new Link(
                "1", Plan.draw(1, 2, 3, Implementation.ELSEWHERE), Link.Sight.CONNECTION, new Totals(), violations);
        EmbeddedChannel channel = new EmbeddedChannel();
        seen.opened(channel);
        seen.newOutgoing(true).next(false);
        seen.closed(channel);

        assertThat(violations.found()).singleElement().asString().startsWith("promises that never completed");
        channel.finish();
    }

    @Test
    void aChannelThatStaysOpenIsNoticed() throws InterruptedException {
        EmbeddedChannel channel = new EmbeddedChannel();
        link.opened(channel);
        link.finish(0);

        assertThat(violations.found()).singleElement().asString().startsWith("channels that are still open");
        channel.finish();
    }

    @Test
    void aLinkHangsOnlyIfNothingHappens() {
        OutgoingStream sent = link.newOutgoing(true);
        Duration aWhile = Duration.ofSeconds(60);

        assertThat(link.hangs(Duration.ZERO)).isTrue();
        inbox.take(message(sent.next(false)));
        assertThat(link.hangs(aWhile)).isFalse();
    }

    @Test
    void aViolationIsPrintedWithTheSeedAndTheHistory() {
        link.note("something happened");
        link.newOutgoing(true);
        link.violated("that was wrong");

        assertThat(printed.toString())
                .contains(
                        "VIOLATION: that was wrong",
                        "seed 42, link 1-2 (NETTY_ZMTP ",
                        "s  something happened",
                        "sent: 0 written");
    }
}
