package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPTopicMatcher;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ZMTPRegistration;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions of this socket, which are topics, each with the number of its registrations, or groups. They are
 * state of the socket and not messages. Each publisher gets all of them after each handshake.
 */
public final class Subscriptions {

    private final SocketContext context;
    private final boolean groups;
    /** Current topics, which are prefixes of messages, or groups. */
    private final ZMTPTopicMatcher<Subscriptions> wanted = new ZMTPTopicMatcher<>(Integer.MAX_VALUE, Long.MAX_VALUE);

    /** Number of additional registrations of a topic, beyond the first. */
    private final NavigableMap<ByteBuf, Integer> more = new TreeMap<>();

    /** Number of changes whose tasks have not run yet. A change on the event loop must not overtake them. */
    private final AtomicInteger onTheirWay = new AtomicInteger();

    private final Map<Peer, Telling> publishers = new LinkedHashMap<>();
    private boolean matched;

    public Subscriptions(SocketContext context) {
        this.context = context;
        this.groups = context.type() == ZMTPSocketType.DISH;
    }

    /** Adds the topic until the result is closed. From any thread. */
    public ZMTPRegistration register(ByteBuf topic) {
        context.checkOpen();
        change(() -> add(topic));
        AtomicBoolean cancelled = new AtomicBoolean();
        return () -> {
            if (cancelled.compareAndSet(false, true)) {
                change(() -> remove(topic));
            }
        };
    }

    /** Removes a registration. From any thread. */
    public void unregister(ByteBuf topic) {
        change(() -> remove(topic));
    }

    /** Runs the task on the event loop, after the tasks of changes that were made before. */
    private void change(Runnable task) {
        if (context.inEventLoop() && onTheirWay.get() == 0) {
            task.run();
            return;
        }
        onTheirWay.incrementAndGet();
        context.execute(() -> {
            onTheirWay.decrementAndGet();
            task.run();
        });
    }

    private void add(ByteBuf topic) {
        if (wanted.add(topic, this)) {
            tell(topic, true);
        } else {
            more.merge(topic, 1, Integer::sum);
        }
    }

    /** Removes a registration of the topic, if there is one. */
    private void remove(ByteBuf topic) {
        if (more.containsKey(topic)) {
            more.computeIfPresent(topic, (t, count) -> count == 1 ? null : count - 1);
        } else if (wanted.remove(topic, this)) {
            tell(topic, false);
        }
    }

    /** Notifies all publishers. A write can run user code, which can subscribe, or end a connection. */
    private void tell(ByteBuf topic, boolean add) {
        Object command = command(topic, add);
        publishers.forEach((publisher, telling) -> {
            PeerHandler link = publisher.link();
            if (link != null && telling.hasTold(topic)) { // otherwise it will be told of the topic, or never was
                link.commands().add(command);
            }
        });
        List.copyOf(publishers.keySet()).forEach(Subscriptions::writeOne);
    }

    private static void writeOne(Peer publisher) {
        PeerHandler link = publisher.link();
        if (link != null) {
            link.commands().writeOne();
        }
    }

    private Object command(ByteBuf topic, boolean add) {
        if (groups) {
            return add ? ZMTPMembership.join(topic) : ZMTPMembership.leave(topic);
        }
        return add ? ZMTPSubscription.subscribe(topic) : ZMTPSubscription.cancel(topic);
    }

    public void up(Peer publisher) {
        Telling telling = new Telling();
        publishers.put(publisher, telling);
        PeerHandler link = publisher.link();
        if (link != null) {
            link.commands().writeAll(telling);
        }
    }

    public void down(Peer publisher) {
        publishers.remove(publisher);
    }

    /**
     * The commands that tell a new publisher the current topics. Each is made when there is room for it, so topics that
     * wait for a publisher take no memory.
     */
    private final class Telling implements Supplier<@Nullable Object> {

        private @Nullable ByteBuf last;
        private boolean done;

        /** Returns whether the publisher has got all there is to say about a topic, except for later changes. */
        boolean hasTold(ByteBuf topic) {
            return done
                    || (last != null && Arrays.compare(ByteBufUtil.getBytes(topic), ByteBufUtil.getBytes(last)) <= 0);
        }

        @Override
        public @Nullable Object get() {
            ByteBuf next = wanted.topicAfter(last);
            last = next;
            done = next == null;
            return next == null ? null : command(next, true);
        }
    }

    /** Returns whether messages with this first frame are subscribed to. */
    boolean match(ByteBuf first) {
        if (groups) {
            return wanted.subscriberCount(first) > 0;
        }
        matched = wanted.subscriberCount(Unpooled.EMPTY_BUFFER) > 0; // everything
        if (matched) {
            return true;
        }
        wanted.match(first, its -> matched = true);
        return matched;
    }
}
