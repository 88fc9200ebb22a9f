package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.Awaited;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.ToIntFunction;

/** The subscribers of a publisher, as its application learns of them. */
public final class Subscribers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Subscribers");

    private record Listening(BiConsumer<? super ZMTPPeer, ZMTPSubscription> listener, boolean all) {}

    private final Map<Peer, Set<ByteBuf>> topics = new HashMap<>();
    private final Map<Peer, Integer> groups = new HashMap<>();
    private final Awaited awaited = new Awaited();
    private final List<Listening> listeners = new CopyOnWriteArrayList<>();

    /**
     * Adds a listener, which is called for the first subscription to a topic and the last cancel, or for all of them.
     */
    public ZMTPRegistration listen(BiConsumer<? super ZMTPPeer, ZMTPSubscription> listener, boolean all) {
        Listening added = new Listening(listener, all);
        listeners.add(added);
        return () -> listeners.remove(added);
    }

    /** Returns the topics that have at least one subscriber. */
    public Set<ByteBuf> topics() {
        Set<ByteBuf> wanted = new LinkedHashSet<>();
        topics.values().forEach(wanted::addAll);
        return wanted;
    }

    /** The peers that have a topic or are in a group, and the futures that wait for them. */
    public Awaited awaited() {
        return awaited;
    }

    private void counted() {
        awaited.changed(topics.size() + groups.size());
    }

    /** Handles a request of a peer. {@code left} is the number of peers that have the topic now. */
    void requested(Peer peer, ZMTPSubscription request, boolean changed, int left) {
        if (changed) {
            remember(peer, request);
        }
        tell(peer, request, changed && (request.isSubscribe() ? left == 1 : left == 0));
        counted();
    }

    private void remember(Peer peer, ZMTPSubscription request) {
        if (request.isSubscribe()) {
            topics.computeIfAbsent(peer, p -> new LinkedHashSet<>()).add(request.topic());
        } else {
            Set<ByteBuf> its = topics.get(peer);
            if (its != null && its.remove(request.topic()) && its.isEmpty()) {
                topics.remove(peer);
            }
        }
    }

    void joined(Peer peer, boolean join) {
        groups.merge(peer, join ? 1 : -1, (a, b) -> a + b == 0 ? null : a + b);
        counted();
    }

    /** Cancels the topics of a peer that has left (RFC 29). The routing has already forgotten them. */
    void left(Peer peer, ToIntFunction<ByteBuf> others) {
        groups.remove(peer);
        Set<ByteBuf> its = topics.remove(peer);
        counted();
        if (its != null && !listeners.isEmpty()) {
            for (ByteBuf topic : its) {
                tell(peer, ZMTPSubscription.cancel(topic), others.applyAsInt(topic) == 0);
            }
        }
    }

    private void tell(Peer peer, ZMTPSubscription request, boolean edge) {
        for (Listening to : listeners) {
            if (edge || to.all) {
                try {
                    to.listener.accept(peer, request);
                } catch (Throwable e) {
                    logger.warn("The listener of subscriptions failed at {}", request, e);
                }
            }
        }
    }
}
