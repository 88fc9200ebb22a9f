package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;
import org.testng.ITestResult;
import org.testng.TestListenerAdapter;
import org.testng.TestNG;
import org.testng.annotations.AfterMethod;

/** The rules of Reactive Streams, which are written for TestNG. */
@Timeout(120)
class ReactiveStreamsTest {

    private static final AtomicInteger ENDPOINTS = new AtomicInteger();

    private static TestEnvironment environment() {
        return new TestEnvironment(1_000, 50);
    }

    /** Two connected sockets. */
    private static final class Pair {
        private final ZMTPSocket pull = ZMTPSocket.of(PULL);
        private final ZMTPSocket push = ZMTPSocket.of(PUSH);

        private Pair() {
            String endpoint = "inproc://tck-" + ENDPOINTS.incrementAndGet();
            pull.bind(endpoint).readyFuture().join();
            push.connect(endpoint);
        }

        /** Sends so many messages, as fast as they are taken. */
        private void send(long count) {
            AtomicLong left = new AtomicLong(count);
            push.onWritable(() -> {
                while (left.get() > 0 && push.isWritable()) {
                    left.decrementAndGet();
                    push.sendOrDrop(ZMTPMessage.fromUTF8("x"));
                }
            });
        }

        private void close() {
            push.closeAsync(Duration.ZERO).join();
            pull.closeAsync(Duration.ZERO).join();
        }
    }

    /**
     * Passes the texts of messages, because the TCK releases nothing. Closes the socket after the last message, so that
     * the publisher completes.
     */
    private record Texts(Flow.Subscriber<? super String> to, ZMTPSocket socket, AtomicInteger left)
            implements Flow.Subscriber<ZMTPMessage> {

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            to.onSubscribe(subscription);
        }

        @Override
        public void onNext(ZMTPMessage message) {
            String text = message.frame(0).toString(StandardCharsets.UTF_8);
            message.release();
            boolean last = left.decrementAndGet() == 0;
            to.onNext(text);
            if (last) {
                socket.closeAsync(Duration.ZERO);
            }
        }

        @Override
        public void onError(Throwable failure) {
            to.onError(failure);
        }

        @Override
        public void onComplete() {
            to.onComplete();
        }
    }

    /** The rules of publishers. */
    public static final class PublisherRules extends FlowPublisherVerification<String> {

        private final Queue<Pair> pairs = new ConcurrentLinkedQueue<>();

        public PublisherRules() {
            super(environment());
        }

        private Pair pair() {
            Pair pair = new Pair();
            pairs.add(pair);
            return pair;
        }

        @Override
        public long maxElementsFromPublisher() {
            return Integer.MAX_VALUE;
        }

        @Override
        public Flow.Publisher<String> createFlowPublisher(long elements) {
            Pair pair = pair();
            pair.send(elements);
            if (elements == 0) {
                pair.pull.closeAsync(Duration.ZERO).join();
            }
            return texts(ZMTPFlow.messages(pair.pull), pair.pull, (int) Math.min(elements, Integer.MAX_VALUE));
        }

        @Override
        public Flow.Publisher<String> createFailedFlowPublisher() {
            Pair pair = pair();
            Flow.Publisher<ZMTPMessage> publisher = ZMTPFlow.messages(pair.pull);
            publisher.subscribe(ZMTPFlow.sender(pair.push)); // the publisher has a single subscriber at a time
            return texts(publisher, pair.pull, 0);
        }

        private static Flow.Publisher<String> texts(Flow.Publisher<ZMTPMessage> from, ZMTPSocket socket, int count) {
            return to -> from.subscribe(to == null ? null : new Texts(to, socket, new AtomicInteger(count)));
        }

        /** Closes the sockets of a test. */
        @AfterMethod
        public void close() {
            for (Pair pair = pairs.poll(); pair != null; pair = pairs.poll()) {
                pair.close();
            }
        }
    }

    /** The rules of subscribers. */
    public static final class SubscriberRules extends FlowSubscriberBlackboxVerification<ZMTPMessage> {

        private final Queue<Pair> pairs = new ConcurrentLinkedQueue<>();

        public SubscriberRules() {
            super(environment());
        }

        @Override
        public Flow.Subscriber<ZMTPMessage> createFlowSubscriber() {
            Pair pair = new Pair();
            pairs.add(pair);
            pair.pull.onMessage((peer, message) -> message.release());
            return ZMTPFlow.sender(pair.push);
        }

        @Override
        public ZMTPMessage createElement(int element) {
            return ZMTPMessage.fromUTF8("" + element);
        }

        /** Closes the sockets of a test. */
        @AfterMethod
        public void close() {
            for (Pair pair = pairs.poll(); pair != null; pair = pairs.poll()) {
                pair.close();
            }
        }
    }

    private static TestListenerAdapter run(Class<?> rules) {
        TestNG tests = new TestNG(false);
        TestListenerAdapter results = new TestListenerAdapter();
        tests.setTestClasses(new Class<?>[] {rules});
        tests.addListener(results);
        tests.setVerbose(0);
        tests.run();
        return results;
    }

    /** The failed methods with their causes. */
    private static List<String> failed(TestListenerAdapter results) {
        return Stream.concat(results.getFailedTests().stream(), results.getConfigurationFailures().stream())
                .map(result -> result.getName() + ": " + result.getThrowable())
                .toList();
    }

    private static List<String> skipped(TestListenerAdapter results) {
        return results.getSkippedTests().stream()
                .map(ITestResult::getName)
                .filter(name -> name.startsWith("required_"))
                .toList();
    }

    @Test
    @Tag("T106")
    void thePublisherPassesTheTck() {
        TestListenerAdapter results = run(PublisherRules.class);

        assertThat(failed(results)).isEmpty();
        assertThat(skipped(results)).isEmpty();
        assertThat(results.getPassedTests()).hasSizeGreaterThanOrEqualTo(25);
    }

    @Test
    @Tag("T106")
    void theSenderPassesTheTck() {
        TestListenerAdapter results = run(SubscriberRules.class);

        assertThat(failed(results)).isEmpty();
        assertThat(skipped(results)).isEmpty();
        assertThat(results.getPassedTests()).hasSizeGreaterThan(10);
    }
}
