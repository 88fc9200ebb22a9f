package dev.zmtp.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalIoHandler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cancel by one thread while messages arrive on another, and an event loop that has ended. */
@Tag("netty-4.2-only")
class FlowCancelTest {

    private static final int ROUNDS = 2_000;

    /** Requests a single message, counts it and releases it. */
    private static final class One implements Flow.Subscriber<ZMTPMessage> {
        private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
        private final CompletableFuture<Void> complete = new CompletableFuture<>();
        private final AtomicInteger received = new AtomicInteger();

        @Override
        public void onSubscribe(Flow.Subscription given) {
            given.request(1);
            subscription.complete(given);
        }

        @Override
        public void onNext(ZMTPMessage message) {
            message.release();
            received.incrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            complete.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            complete.complete(null);
        }
    }

    @Test
    @Tag("T108")
    void eachMessageIsReceivedOrStaysInTheSocket() {
        try (ZMTPSocket pull = ZMTPSocket.of(PULL);
                ZMTPSocket push = ZMTPSocket.of(PUSH)) {
            pull.bind("inproc://flow-cancel").readyFuture().join();
            push.connect("inproc://flow-cancel");
            Flow.Publisher<ZMTPMessage> publisher = ZMTPFlow.messages(pull);

            for (int i = 0; i < ROUNDS; i++) {
                One one = new One();
                publisher.subscribe(one);
                Flow.Subscription subscription = one.subscription.join();
                push.sendOrDrop(message("x"));
                for (int turns = i % 100; turns > 0; turns--) {
                    Thread.onSpinWait();
                }
                subscription.cancel();

                AtomicReference<ZMTPMessage> left = new AtomicReference<>();
                await("the message", () -> one.received.get() == 1 || take(pull, left));
                assertThat(one.received.get() + (left.get() == null ? 0 : 1)).isEqualTo(1);
            }

            assertThat(pull.tryReceive()).isNull();
        }
    }

    private static boolean take(ZMTPSocket pull, AtomicReference<ZMTPMessage> left) {
        ZMTPMessage message = pull.tryReceive();
        if (message == null) {
            return false;
        }
        left.set(message);
        message.release();
        return true;
    }

    @Test
    void aSubscriberHearsOfTheEndAlthoughTheEventLoopHasEnded() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        ZMTPSocket pull = ZMTPSocket.of(PULL, group.next());
        pull.closeAsync(Duration.ZERO).get(30, TimeUnit.SECONDS);
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        One one = new One();

        ZMTPFlow.messages(pull).subscribe(one);

        assertThat(one.complete).isCompleted();
    }
}
