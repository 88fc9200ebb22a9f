package dev.zmtp.socket;

import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** What the application of a publisher learns about its subscribers. */
final class Subscribers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Subscribers.class);

    private record Listener(BiConsumer<ZMTPPeer, ZMTPSubscription> listener, boolean all) {}

    private record Waiter(int subscribers, CompletableFuture<Integer> reached) {}

    private final Map<ZMTPPeer, Set<ByteBuf>> topics = new HashMap<>();
    private final Map<ZMTPPeer, Integer> groups = new HashMap<>();
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private @Nullable ZMTPSocketException closed;

    /**
     * Adds a listener, which is called for the first subscription to a topic and the last cancel, or for all of them.
     */
    AutoCloseable listen(BiConsumer<ZMTPPeer, ZMTPSubscription> listener, boolean all) {
        Listener added = new Listener(listener, all);
        listeners.add(added);
        return () -> listeners.remove(added);
    }

    /** Returns the topics that have at least one subscriber. */
    Set<ByteBuf> topics() {
        Set<ByteBuf> wanted = new LinkedHashSet<>();
        topics.values().forEach(wanted::addAll);
        return wanted;
    }

    /** Returns the number of peers that have a topic or are in a group. */
    int count() {
        return topics.size() + groups.size();
    }

    void await(int subscribers, CompletableFuture<Integer> reached) {
        if (closed != null) { // after the call
            reached.completeExceptionally(closed);
            return;
        }
        waiters.add(new Waiter(subscribers, reached));
        arrived();
    }

    private void arrived() {
        for (Iterator<Waiter> i = waiters.iterator(); i.hasNext(); ) {
            Waiter waiter = i.next();
            if (waiter.reached.isDone() || count() >= waiter.subscribers) {
                i.remove();
                waiter.reached.complete(count());
            }
        }
    }

    /** Handles a request of a peer. {@code left} is the number of peers that have the topic now. */
    void requested(ZMTPPeer peer, ZMTPSubscription request, boolean changed, int left) {
        if (changed) {
            remember(peer, request);
        }
        tell(peer, request, changed && (request.isSubscribe() ? left == 1 : left == 0));
        arrived();
    }

    private void remember(ZMTPPeer peer, ZMTPSubscription request) {
        if (request.isSubscribe()) {
            topics.computeIfAbsent(peer, p -> new LinkedHashSet<>()).add(request.topic());
        } else {
            Set<ByteBuf> its = topics.get(peer);
            if (its != null && its.remove(request.topic()) && its.isEmpty()) {
                topics.remove(peer);
            }
        }
    }

    void joined(ZMTPPeer peer, boolean join) {
        groups.merge(peer, join ? 1 : -1, (a, b) -> a + b == 0 ? null : a + b);
        arrived();
    }

    /** Cancels the topics of a peer that has left (RFC 29). The routing has already forgotten them. */
    void left(ZMTPPeer peer, ToIntFunction<ByteBuf> others) {
        groups.remove(peer);
        Set<ByteBuf> its = topics.remove(peer);
        if (its != null && !listeners.isEmpty()) {
            for (ByteBuf topic : its) {
                tell(peer, ZMTPSubscription.cancel(topic), others.applyAsInt(topic) == 0);
            }
        }
    }

    private void tell(ZMTPPeer peer, ZMTPSubscription request, boolean edge) {
        for (Listener to : listeners) {
            if (edge || to.all) {
                try {
                    to.listener.accept(peer, request);
                } catch (Throwable e) {
                    logger.warn("The listener of subscriptions failed at {}", request, e);
                }
            }
        }
    }

    void close(ZMTPSocketException cause) {
        closed = cause;
        waiters.forEach(waiter -> waiter.reached.completeExceptionally(cause));
        waiters.clear();
    }
}
