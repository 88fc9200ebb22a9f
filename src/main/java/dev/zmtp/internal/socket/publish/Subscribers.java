package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.Awaited;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import io.netty.buffer.ByteBuf;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** The subscribers of a publisher, as reported to its application. */
public final class Subscribers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Subscribers");

    /**
     * Maximum number of requests waiting to be reported. Beyond it, each further request reports two earlier requests
     * at once.
     */
    static final int MAX_NOTICES = 1 << 16;

    /** Number of topics removed at once to make room for another topic. */
    private static final int AT_ONCE = 64;

    /** A listener that was added, which can be added several times. */
    private static final class Listening {
        final BiConsumer<? super ZMTPPeer, ? super ZMTPSubscription> listener;
        final boolean all;

        Listening(BiConsumer<? super ZMTPPeer, ? super ZMTPSubscription> listener, boolean all) {
            this.listener = listener;
            this.all = all;
        }
    }

    /** Removes at most a number of topics of a peer, and passes them on with the number of their other subscribers. */
    interface Removal {
        int removeSome(Peer peer, int max, ObjIntConsumer<ByteBuf> action);
    }

    /**
     * @param request null for a peer that has left, whose topics are removed and cancelled
     * @param listeners the listeners at the time of the request
     */
    private record Notice(Peer peer, @Nullable ZMTPSubscription request, boolean edge, List<Listening> listeners) {}

    /** Number of topics or groups of each peer. The topics themselves are stored only by the routing. */
    private final Map<Peer, Integer> counts = new HashMap<>();

    private BiConsumer<Peer, Consumer<ByteBuf>> topicsOf = (peer, action) -> {};
    private Removal removal = (peer, max, action) -> 0;
    private final SocketContext context;
    private final Awaited awaited;
    private final RateLimitedLog failures;

    /** Immutable. Replaced under the lock of this object. */
    private volatile List<Listening> listeners = List.of();

    /**
     * Requests not reported to the listeners yet, because a peer that leaves can have more topics than a task reports.
     */
    private final Deque<Notice> notices = new ConsistentDeque<>();

    /** Number of {@link #notices} of peers that have left. */
    private int leaving;

    private boolean scheduled;

    public Subscribers(SocketContext context) {
        this.context = context;
        this.awaited = new Awaited(context.completions());
        this.failures = context.warnings(logger);
    }

    /**
     * Adds a listener, which is called for the first subscription to a topic and its last cancellation, or for all of
     * them.
     */
    public ZMTPRegistration listen(BiConsumer<? super ZMTPPeer, ? super ZMTPSubscription> listener, boolean all) {
        Listening added = new Listening(listener, all);
        synchronized (this) {
            List<Listening> more = new ArrayList<>(listeners);
            more.add(added);
            listeners = List.copyOf(more);
        }
        context.execute(this::tellAll); // or topics of peers that have left would hide from it who subscribes next
        return () -> remove(added);
    }

    private synchronized void remove(Listening removed) {
        List<Listening> fewer = new ArrayList<>(listeners);
        fewer.remove(removed);
        listeners = List.copyOf(fewer);
    }

    /** Sets the function that calls an action for each topic of a peer. */
    void topicsOf(BiConsumer<Peer, Consumer<ByteBuf>> topics) {
        topicsOf = topics;
    }

    /** Returns the topics that have at least one subscriber. */
    public NavigableSet<ByteBuf> topics() {
        NavigableSet<ByteBuf> wanted = new TreeSet<>();
        counts.keySet().forEach(peer -> topicsOf.accept(peer, wanted::add));
        return wanted;
    }

    /** Sets the function that removes topics of a peer. */
    void removal(Removal removed) {
        removal = removed;
    }

    /** The number of peers with a topic or a group, and the futures that wait for it. */
    public Awaited awaited() {
        return awaited;
    }

    private void counted() {
        awaited.changed(counts.size());
    }

    private void count(Peer peer, boolean more) {
        counts.merge(peer, more ? 1 : -1, (a, b) -> a + b == 0 ? null : a + b);
    }

    /** Handles a request of a peer. {@code left} is the number of peers that have the topic now. */
    void requested(Peer peer, ZMTPSubscription request, boolean changed, int left) {
        if (changed) {
            count(peer, request.isSubscribe());
        }
        tell(peer, request, changed && (request.isSubscribe() ? left == 1 : left == 0));
        counted();
    }

    void joined(Peer peer, boolean join) {
        count(peer, join);
        counted();
    }

    /**
     * Removes the topics of a peer that has left or is refused, and cancels them (RFC 29). Those of a peer that can
     * subscribe again are removed now: a refused peer, which is still connected, and a peer that this side connects to.
     */
    void left(Peer peer) {
        if (counts.containsKey(peer)) {
            if (peer.home() != null || peer.isUp()) {
                List<Notice> cancelled = new ArrayList<>();
                remove(peer, Integer.MAX_VALUE, listeners, cancelled);
                notices.addAll(cancelled);
            } else {
                notices.add(new Notice(peer, null, false, listeners));
                leaving++;
            }
            counts.remove(peer); // last, so that another call removes what is left if there was no memory
        }
        counted();
        if (!scheduled) {
            tellSome();
        }
    }

    /**
     * Removes topics of a peer, and adds their cancellations if there is a listener. They are sorted, so that the same
     * traffic leads to the same calls of listeners again if all topics are removed at once.
     *
     * @return the number of topics
     */
    private int remove(Peer peer, int max, List<Listening> those, List<Notice> cancelled) {
        if (those.isEmpty()) {
            return removal.removeSome(peer, max, (topic, others) -> {});
        }
        NavigableMap<ByteBuf, Integer> topics = new TreeMap<>();
        int removed = removal.removeSome(peer, max, topics::put);
        topics.forEach(
                (topic, others) -> cancelled.add(new Notice(peer, ZMTPSubscription.cancel(topic), others == 0, those)));
        return removed;
    }

    /** Removes some topics of peers that have left, and returns whether there were any such peers. */
    boolean forgetSome() {
        boolean some = leaving > 0;
        if (some) {
            tell(AT_ONCE);
        }
        return some;
    }

    private void tell(Peer peer, ZMTPSubscription request, boolean edge) {
        if (listeners.isEmpty()) {
            return;
        }
        if (notices.isEmpty()) {
            tellNow(peer, request, edge, listeners);
        } else { // a peer that returns must not be reported before its leave
            if (notices.size() >= MAX_NOTICES) {
                tell(2); // fewer are left, and a task that reads requests is not much longer
            }
            note(peer, request, edge);
            if (!scheduled) { // there was no memory for the task
                tellSome();
            }
        }
    }

    private void note(Peer peer, ZMTPSubscription request, boolean edge) {
        notices.add(new Notice(peer, request, edge, listeners));
    }

    /** Reports all pending requests to the listeners. */
    public void tellAll() {
        tell(Integer.MAX_VALUE);
    }

    private void tellSome() {
        scheduled = false;
        try {
            tell(LoopBudget.MESSAGES);
        } finally { // if there was no memory, the rest is told nonetheless
            if (!notices.isEmpty() && !scheduled) {
                context.executeAfterReads(this::tellSome);
                scheduled = true; // only now, because there might be no memory for the task
            }
        }
    }

    private void tell(int most) {
        int left = most;
        while (left > 0) {
            Notice next = notices.peek();
            if (next == null) {
                return;
            }
            if (next.request == null) {
                left -= forget(next, left);
            } else {
                notices.remove();
                tellNow(next.peer, next.request, next.edge, next.listeners);
                left--;
            }
        }
    }

    /**
     * Removes topics of the peer of the first notice. Their cancellations are the next notices, before this notice if
     * there might be more topics.
     *
     * @return how much of the maximum was used
     */
    private int forget(Notice left, int max) {
        List<Notice> cancelled = new ArrayList<>();
        int removed = remove(left.peer, max, left.listeners, cancelled);
        if (removed < max) {
            notices.remove();
            leaving--;
        }
        for (int i = cancelled.size() - 1; i >= 0; i--) {
            notices.addFirst(cancelled.get(i));
        }
        return cancelled.isEmpty() ? Math.max(1, removed) : 0;
    }

    private void tellNow(Peer peer, ZMTPSubscription request, boolean edge, List<Listening> those) {
        for (Listening to : those) {
            if ((edge || to.all) && listeners.contains(to)) { // otherwise it was removed
                try {
                    to.listener.accept(peer, request);
                } catch (Throwable e) {
                    failures.log("The listener of subscriptions", "failed at " + request, e);
                }
            }
        }
    }
}
