package dev.zmtp.internal.proxy;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TopicChanges;
import dev.zmtp.internal.socket.endpoint.Sockets;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Subscribes the subscriber of a proxy to the topics that the peers of its publisher have subscribed to.
 *
 * <p>On their way to the subscriber's event loop, a subscription and its cancellation cancel each other out. So peers
 * that change their topics faster than that event loop follows do not fill its queue of tasks.
 */
public final class SubscriptionRelay {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.SubscriptionRelay");

    /** Maximum cost of a change. Thus the publishers are flushed once for several changes, however many there are. */
    private static final int MAX_COST = LoopBudget.MESSAGES / 32;

    private final SocketContext context;
    private final Subscribers subscribers;
    private final SocketContext target;
    private final ZMTPSocket subscriber;
    private final RateLimitedLog failures;
    private final Runnable relayTask = this::relaySome;
    private final Object lock = new Object();

    /** Changes on their way to the subscriber's event loop. Guarded by the lock, like the next field. */
    private final TopicChanges<ZMTPSubscription> changes = new TopicChanges<>();

    private boolean scheduled;

    // Used on the publisher's event loop
    private @Nullable AutoCloseable listener;
    private boolean ended;

    public SubscriptionRelay(ProxyEnd publisher, ProxyEnd target, ZMTPSocket subscriber) {
        this.context = publisher.context();
        this.subscribers = publisher.subscribers();
        this.target = target.context();
        this.failures = this.target.warnings(logger);
        this.subscriber = subscriber;
    }

    public void start() {
        context.executeAnyway(() -> {
            if (!ended) {
                subscribers
                        .tellAll(); // a topic of a peer that has left would hide the end of the same topic of another
                listener = subscribers.listen((peer, request) -> heard(request), false);
                subscribers.topics().forEach(topic -> relay(ZMTPSubscription.subscribe(topic)));
            }
        });
    }

    /** Relays the first subscription to a topic, or the last cancellation. Those of a topic alternate. */
    private void heard(ZMTPSubscription request) {
        if (!ended) {
            relay(request);
        }
    }

    private void relay(ZMTPSubscription request) {
        boolean schedule;
        synchronized (lock) {
            changes.add(request.topic(), request);
            schedule = !scheduled;
            scheduled = true;
        }
        if (schedule) {
            try {
                target.execute(relayTask);
            } catch (Throwable e) {
                stopped(e);
            }
        }
    }

    /** Runs on the subscriber's event loop. */
    private void relaySome() {
        try {
            int publishers = Math.max(1, subscriber.peers().size()); // which are all told of each change, and flushed
            for (int left = LoopBudget.MESSAGES; left > 0; left -= Math.min(publishers, MAX_COST)) {
                ZMTPSubscription next = next();
                if (next == null) {
                    return;
                }
                subscribe(next);
            }
            target.executeAfterReads(relayTask);
        } catch (Throwable e) {
            stopped(e);
        }
    }

    /** Relays all changes now if both sockets have one event loop, so that none comes after the end. */
    private void relayRest() {
        if (target.inEventLoop()) {
            for (ZMTPSubscription next = next(); next != null; next = next()) {
                subscribe(next);
            }
        }
    }

    /** For example because there is no memory. The next change continues. */
    private void stopped(Throwable cause) {
        synchronized (lock) {
            scheduled = false;
        }
        failures.log("A proxy", "could not relay subscriptions", cause);
    }

    /** Removes and returns the first change; null if there is none. */
    private @Nullable ZMTPSubscription next() {
        synchronized (lock) {
            TopicChanges.Change<ZMTPSubscription> first = changes.first();
            scheduled = first != null;
            changes.removeFirst();
            return first == null ? null : first.value();
        }
    }

    private void subscribe(ZMTPSubscription request) {
        try {
            if (request.isSubscribe()) {
                subscriber.subscribe(request.topic());
            } else {
                subscriber.unsubscribe(request.topic());
            }
        } catch (ZMTPSocketException e) {
            logger.debug("The proxy's subscriber is closed, and so is the proxy soon", e);
        } catch (Throwable e) { // for example out of memory, which does not affect other topics
            failures.log("A proxy", "could not relay " + (request.isSubscribe() ? "a subscription" : "a cancel"), e);
        }
    }

    public void end(Runnable whenEnded) {
        context.executeLaterAnyway(
                () -> { // a listener can be in the middle of a subscription that is relayed next
                    try {
                        subscribers.tellAll();
                        ended = true;
                        if (listener != null) {
                            Sockets.closeQuietly(listener);
                            subscribers.topics().forEach(topic -> relay(ZMTPSubscription.cancel(topic)));
                            relayRest();
                        }
                    } finally {
                        whenEnded.run();
                    }
                });
    }
}
