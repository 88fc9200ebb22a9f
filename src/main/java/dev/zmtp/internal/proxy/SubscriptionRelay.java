package dev.zmtp.internal.proxy;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.endpoint.Sockets;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the subscriber of a proxy subscribe to what the peers of its publisher have subscribed to. */
public final class SubscriptionRelay {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.SubscriptionRelay");

    private final SocketContext context;
    private final Subscribers subscribers;
    private final ZMTPSocket subscriber;

    // On the publisher's event loop
    private final Map<ByteBuf, ZMTPRegistration> topics = new HashMap<>();
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
                listener = subscribers.listen((peer, request) -> changed(request), false);
                subscribers.topics().forEach(this::add);
            }
        });
    }

    private void changed(ZMTPSubscription request) {
        if (request.isSubscribe()) {
            add(request.topic());
            return;
        }
        ZMTPRegistration registration = topics.remove(request.topic());
        if (registration != null) {
            registration.close();
        }
    }

    private void add(ByteBuf topic) {
        try {
            topics.computeIfAbsent(topic, subscriber::subscribe);
        } catch (ZMTPSocketException e) {
            logger.debug("The proxy's subscriber is closed, and so is the proxy soon", e);
        }
    }

    public void end(Runnable whenEnded) {
        context.executeAnyway(() -> {
            ended = true;
            if (listener != null) {
                Sockets.closeQuietly(listener);
            }
            topics.values().forEach(ZMTPRegistration::close);
            topics.clear();
            whenEnded.run();
        });
    }
}
