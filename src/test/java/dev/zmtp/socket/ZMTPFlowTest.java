package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.Turns;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A socket as a publisher and as a subscriber. */
@Tag("netty-4.2-only")
class ZMTPFlowTest {

    /** Notes each signal, and releases each message. */
    private static class Noted implements Flow.Subscriber<ZMTPMessage> {
        private final List<String> signals = new ArrayList<>();
        private final List<Throwable> failures = new ArrayList<>();
        private Flow.Subscription subscription;

        /** Called after each message. */
        private Consumer<Flow.Subscription> then = same -> {};

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            signals.add("subscribed");
        }

        @Override
        public void onNext(ZMTPMessage message) {
            signals.add(message.frame(0).toString(StandardCharsets.UTF_8));
            message.release();
            then.accept(subscription);
        }

        @Override
        public void onError(Throwable failure) {
            signals.add("failed");
            failures.add(failure);
        }

        @Override
        public void onComplete() {
            signals.add("complete");
        }
    }

    /** Notes the requests, and whether it was cancelled. */
    private static final class Requested implements Flow.Subscription {
        private final List<Long> requests = new ArrayList<>();
        private int cancels;

        @Override
        public void request(long n) {
            requests.add(n);
        }

        @Override
        public void cancel() {
            cancels++;
        }

        private long sum() {
            return requests.stream().mapToLong(Long::longValue).sum();
        }
    }

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final Noted noted = new Noted();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket pull() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.bind("inproc://flow");
        return pull;
    }

    private ZMTPSocket push(String... texts) {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://flow");
        send(push, texts);
        return push;
    }

    private void send(ZMTPSocket push, String... texts) {
        for (String text : texts) {
            push.sendOrDrop(message(text));
        }
        loop.run();
    }

    private Noted subscribe(Flow.Publisher<ZMTPMessage> publisher) {
        publisher.subscribe(noted);
        loop.run();
        return noted;
    }

    private void request(long n) {
        noted.subscription.request(n);
        loop.run();
    }

    /** Other connections of the event loop are served in between. */
    @Test
    void manyMessagesAreSignalledInSeveralTasks() {
        int many = 3 * LoopBudget.MESSAGES;
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(many, 1 << 30));
        pull.bind("inproc://flow");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(many, 1 << 30));
        push.connect("inproc://flow");
        for (int i = 0; i < many; i++) {
            push.sendOrDrop(message("m"));
        }
        loop.run();
        subscribe(ZMTPFlow.messages(pull));
        Turns turns = Turns.of(loop.eventLoop(), noted.signals::size);

        request(Long.MAX_VALUE);

        assertThat(noted.signals).hasSize(1 + many);
        assertThat(turns.most()).isPositive().isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    private static List<ZMTPMessage> messages(int count) {
        List<ZMTPMessage> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(message("m" + i));
        }
        return messages;
    }

    private static String[] texts(int count) {
        return Collections.nCopies(count, "x").toArray(String[]::new);
    }

    // The publisher

    @Test
    void aSubscriberGetsAsManyMessagesAsItRequests() {
        ZMTPSocket pull = pull();
        push("a", "b", "c");
        subscribe(ZMTPFlow.messages(pull));
        assertThat(noted.signals).containsExactly("subscribed");

        request(2);

        assertThat(noted.signals).containsExactly("subscribed", "a", "b");
    }

    @Test
    void aMessageThatArrivesLaterMeetsTheDemand() {
        ZMTPSocket pull = pull();
        ZMTPSocket push = push();
        subscribe(ZMTPFlow.messages(pull));
        request(1);

        send(push, "a", "b");

        assertThat(noted.signals).containsExactly("subscribed", "a");
    }

    @Test
    void demandAddsUpToTheLargestNumber() {
        ZMTPSocket pull = pull();
        ZMTPSocket push = push();
        subscribe(ZMTPFlow.messages(pull));
        request(Long.MAX_VALUE - 1);
        request(Long.MAX_VALUE - 1);

        send(push, "a", "b");

        assertThat(noted.signals).containsExactly("subscribed", "a", "b");
    }

    @Test
    void aRequestInEachSignalDoesNotFillTheStack() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(100_000, 1 << 24));
        pull.bind("inproc://flow");
        ZMTPSocket push = push();
        for (int i = 0; i < 100; i++) {
            send(push, texts(500));
        }
        noted.then = subscription -> subscription.request(1);
        subscribe(ZMTPFlow.messages(pull));

        request(1);

        assertThat(noted.signals).hasSize(50_001);
    }

    @Test
    void aRequestOfNothingFails() {
        ZMTPSocket pull = pull();
        push("a");
        subscribe(ZMTPFlow.messages(pull));

        request(0);

        assertThat(noted.signals).containsExactly("subscribed", "failed");
        assertThat(noted.failures.get(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("n: 0 (expected: >= 1)");
    }

    @Test
    void aNegativeRequestFailsWhileAMessageIsAwaited() {
        subscribe(ZMTPFlow.messages(pull()));
        request(1);

        request(-1);

        assertThat(noted.signals).containsExactly("subscribed", "failed");
    }

    @Test
    void aSecondSubscriberFails() {
        Flow.Publisher<ZMTPMessage> publisher = ZMTPFlow.messages(pull());
        subscribe(publisher);
        Noted second = new Noted();

        publisher.subscribe(second);
        loop.run();

        assertThat(second.signals).containsExactly("subscribed", "failed");
        assertThat(second.failures.get(0)).isInstanceOf(IllegalStateException.class);
        assertThat(noted.signals).containsExactly("subscribed");
    }

    @Test
    @Tag("T108")
    void afterACancelAnotherSubscriberGetsTheMessages() {
        Flow.Publisher<ZMTPMessage> publisher = ZMTPFlow.messages(pull());
        ZMTPSocket push = push();
        subscribe(publisher);
        request(5);
        noted.subscription.cancel();
        noted.subscription.cancel();
        Noted second = new Noted();
        publisher.subscribe(second);

        send(push, "a");
        second.subscription.request(1);
        loop.run();

        assertThat(noted.signals).containsExactly("subscribed");
        assertThat(second.signals).containsExactly("subscribed", "a");
    }

    @Test
    @Tag("T108")
    void aCancelInASignalLeavesTheOtherMessagesInTheSocket() {
        ZMTPSocket pull = pull();
        push("a", "b");
        noted.then = Flow.Subscription::cancel;
        subscribe(ZMTPFlow.messages(pull));

        request(2);

        assertThat(noted.signals).containsExactly("subscribed", "a");
        ZMTPMessage left = pull.tryReceive();
        assertThat(left).isNotNull();
        left.release();
    }

    @Test
    void aRequestAfterACancelDoesNothing() {
        ZMTPSocket pull = pull();
        push("a");
        subscribe(ZMTPFlow.messages(pull));
        noted.subscription.cancel();

        request(1);
        request(0);

        assertThat(noted.signals).containsExactly("subscribed");
    }

    @Test
    @Tag("T107")
    void withoutDemandNothingIsTakenFromTheSocket() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL).receiveQueueLimit(2, 1 << 20));
        pull.bind("test://limit");
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("test://limit");
        subscribe(ZMTPFlow.messages(pull));
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            sent.add(push.sendAsync(ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[10_000]))));
        }
        loop.run();

        assertThat(noted.signals).containsExactly("subscribed");
        assertThat(sent).filteredOn(CompletableFuture::isDone).hasSizeLessThan(20);

        request(40);

        assertThat(noted.signals).hasSize(41);
    }

    @Test
    void theEndOfTheSocketCompletesASubscriberWithoutDemand() {
        ZMTPSocket pull = pull();
        subscribe(ZMTPFlow.messages(pull));

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(noted.signals).containsExactly("subscribed", "complete");
    }

    @Test
    void theEndOfTheSocketCompletesASubscriberThatWaits() {
        ZMTPSocket pull = pull();
        subscribe(ZMTPFlow.messages(pull));
        request(1);

        pull.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(noted.signals).containsExactly("subscribed", "complete");
    }

    @Test
    void aClosedSocketCompletesASubscriber() {
        ZMTPSocket pull = pull();
        pull.closeAsync(Duration.ZERO);
        loop.run();

        subscribe(ZMTPFlow.messages(pull));

        assertThat(noted.signals).containsExactly("subscribed", "complete");
    }

    @Test
    void aHandlerThatReceivesFailsASubscriberWithDemand() {
        ZMTPSocket pull = pull();
        pull.onMessage((peer, message) -> message.release());
        subscribe(ZMTPFlow.messages(pull));

        request(1);

        assertThat(noted.signals).containsExactly("subscribed", "failed");
        assertThat(((ZMTPSocketException) noted.failures.get(0)).reason())
                .isEqualTo(ZMTPSocketException.Reason.ILLEGAL_STATE);
    }

    @Test
    void aSubscriberThatThrowsIsCancelled() {
        ZMTPSocket pull = pull();
        push("a", "b");
        noted.then = subscription -> {
            throw new IllegalStateException("a test");
        };
        subscribe(ZMTPFlow.messages(pull));

        request(2);

        assertThat(noted.signals).containsExactly("subscribed", "a");
    }

    @Test
    void thereIsNoPublisherOfASocketThatDoesNotReceiveAtAnyTime() {
        for (var type : List.of(PUB, PUSH, REQ, REP)) {
            ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> ZMTPFlow.messages(socket))
                    .withMessage("messages: not with " + type + " (expected: a type that receives, not REQ or REP)");
        }
    }

    @Test
    void thereIsNoPublisherForNull() {
        ZMTPSocket pull = pull();
        assertThatNullPointerException().isThrownBy(() -> ZMTPFlow.messages(null));
        assertThatNullPointerException()
                .isThrownBy(() -> ZMTPFlow.messages(pull).subscribe(null));
    }

    // The subscriber

    @Test
    void aSenderRequestsAMessageForEachThatWasSent() {
        ZMTPSocket pull = pull();
        ZMTPSocket push = push();
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(push);
        Requested requested = new Requested();
        sender.onSubscribe(requested);
        assertThat(requested.requests).containsExactly(16L);

        messages(3).forEach(sender::onNext);
        loop.run();

        assertThat(requested.sum()).isEqualTo(19);
        subscribe(ZMTPFlow.messages(pull));
        request(10);
        assertThat(noted.signals).containsExactly("subscribed", "m0", "m1", "m2");
    }

    @Test
    void aSenderRequestsNothingWhileNothingLeaves() {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect("inproc://nobody");
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(push);
        Requested requested = new Requested();
        sender.onSubscribe(requested);

        messages(16).forEach(sender::onNext);
        loop.run();

        assertThat(requested.requests).containsExactly(16L);
    }

    @Test
    void aSenderOfAClosedSocketCancelsAndReleases() {
        ZMTPSocket push = push();
        push.closeAsync(Duration.ZERO);
        loop.run();
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(push);
        Requested requested = new Requested();
        sender.onSubscribe(requested);
        List<ZMTPMessage> messages = messages(3);

        messages.forEach(sender::onNext);
        loop.run();

        assertThat(requested.cancels).isEqualTo(1);
        assertThat(requested.sum()).isEqualTo(16);
        assertThat(messages).allSatisfy(message -> assertThat(message.refCnt()).isZero());
    }

    @Test
    void aRefusedMessageCancels() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(router);
        Requested requested = new Requested();
        sender.onSubscribe(requested);
        ZMTPMessage unroutable = message("nobody", "a");

        sender.onNext(unroutable);
        loop.run();

        assertThat(requested.cancels).isEqualTo(1);
        assertThat(unroutable.refCnt()).isZero();
    }

    @Test
    void aSenderCancelsASecondSubscription() {
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(push());
        Requested first = new Requested();
        Requested second = new Requested();

        sender.onSubscribe(first);
        sender.onSubscribe(second);

        assertThat(second.cancels).isEqualTo(1);
        assertThat(second.requests).isEmpty();
        assertThat(first.cancels).isZero();
    }

    @Test
    void theEndOfThePublisherLeavesTheSocketOpen() {
        pull();
        ZMTPSocket push = push();
        Flow.Subscriber<ZMTPMessage> sender = ZMTPFlow.sender(push);
        Requested requested = new Requested();
        sender.onSubscribe(requested);
        ZMTPMessage last = message("last");
        sender.onNext(last);

        sender.onComplete();
        loop.run();

        assertThat(push.closeFuture()).isNotDone();
        assertThat(push.stats().written()).isEqualTo(1);
    }

    @Test
    void aPublisherFeedsASender() {
        ZMTPSocket in = pull();
        ZMTPSocket source = push();
        ZMTPSocket out = loop.open(ZMTPSocketConfig.builder(PUSH));
        ZMTPSocket sink = loop.open(ZMTPSocketConfig.builder(PULL));
        sink.bind("inproc://sink");
        out.connect("inproc://sink");
        ZMTPFlow.messages(in).subscribe(ZMTPFlow.sender(out));

        send(source, texts(100));
        subscribe(ZMTPFlow.messages(sink));
        request(100);

        assertThat(noted.signals).hasSize(101);
    }

    @Test
    void thereIsNoSenderOfASocketThatDoesNotSendAtAnyTime() {
        for (var type : List.of(PULL, REQ, REP)) {
            ZMTPSocket socket = loop.open(ZMTPSocketConfig.builder(type));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> ZMTPFlow.sender(socket))
                    .withMessage("sender: not with " + type + " (expected: a type that sends, not REQ or REP)");
        }
    }
}
