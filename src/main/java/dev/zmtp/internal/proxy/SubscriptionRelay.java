package dev.zmtp.internal.proxy;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.endpoint.Sockets;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import org.jspecify.annotations.Nullable;

/** Subscribes the subscriber of a proxy to the topics that the peers of its publisher have subscribed to. */
public final class SubscriptionRelay {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.SubscriptionRelay");

    private final SocketContext context;
    private final Subscribers subscribers;
    private final ZMTPSocket subscriber;

    // Used on the publisher's event loop
    private @Nullable AutoCloseable listener;
    private boolean ended;

    public SubscriptionRelay(ProxyEnd publisher, ZMTPSocket subscriber) {
        this.context = publisher.context();
        this.subscribers = publisher.subscribers();
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

    /** Relays the first subscription to a topic, or the last cancellation. */
    private void heard(ZMTPSubscription request) {
        if (!ended) {
            relay(request);
        }
    }

    private void relay(ZMTPSubscription request) {
        try {
            if (request.isSubscribe()) {
                subscriber.subscribe(request.topic());
            } else {
                subscriber.unsubscribe(request.topic());
            }
        } catch (ZMTPSocketException e) {
            logger.debug("The proxy's subscriber is closed, and so is the proxy soon", e);
        }
    }

    public void end(Runnable whenEnded) {
        context.executeLaterAnyway(
                () -> { // a listener can be in the middle of a subscription that is relayed next
                    subscribers.tellAll();
                    ended = true;
                    if (listener != null) {
                        Sockets.closeQuietly(listener);
                        subscribers.topics().forEach(topic -> relay(ZMTPSubscription.cancel(topic)));
                    }
                    whenEnded.run();
                });
    }
}
