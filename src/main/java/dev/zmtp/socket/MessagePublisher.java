package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Publisher of the messages of a socket, for a single subscriber at a time. */
final class MessagePublisher implements Flow.Publisher<ZMTPMessage> {

    private final ZMTPSocket socket;
    private final AtomicReference<@Nullable MessageSubscription> active = new AtomicReference<>();

    MessagePublisher(ZMTPSocket socket) {
        this.socket = socket;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ZMTPMessage> subscriber) {
        Objects.requireNonNull(subscriber, "subscriber");
        MessageSubscription subscription = new MessageSubscription(socket, this, subscriber);
        if (!active.compareAndSet(null, subscription)) {
            subscription.refuse(new IllegalStateException("the publisher already has a subscriber"));
        }
        subscription.start();
    }

    /** Called when a subscription has ended, so that another subscriber can follow. From any thread. */
    void ended(MessageSubscription subscription) {
        active.compareAndSet(subscription, null);
    }
}
