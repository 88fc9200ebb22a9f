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
import io.netty.buffer.Unpooled;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The list of what this socket has asked its publishers for: topics, each with the number of registrations that want
 * it, or groups. They are state of the socket and not messages: each publisher gets all of them after each handshake.
 */
public final class Subscriptions {

    private final SocketContext context;
    private final boolean groups;
    private final Map<ByteBuf, Integer> wanted = new LinkedHashMap<>();
    private final ZMTPTopicMatcher<Subscriptions> prefixes = new ZMTPTopicMatcher<>(Integer.MAX_VALUE, Long.MAX_VALUE);
    private final Set<Peer> publishers = new LinkedHashSet<>();
    private boolean matched;

    public Subscriptions(SocketContext context) {
        this.context = context;
        this.groups = context.type() == ZMTPSocketType.DISH;
    }

    /** Adds the topic until the result is closed. From any thread. */
    public ZMTPRegistration register(ByteBuf topic) {
        context.checkOpen();
        context.executeHere(() -> add(topic));
        AtomicBoolean cancelled = new AtomicBoolean();
        return () -> {
            if (cancelled.compareAndSet(false, true)) {
                context.executeHere(() -> remove(topic));
            }
        };
    }

    /** Takes one registration off. From any thread. */
    public void unregister(ByteBuf topic) {
        context.executeHere(() -> remove(topic));
    }

    private void add(ByteBuf topic) {
        if (wanted.merge(topic, 1, Integer::sum) == 1) {
            if (!groups) {
                prefixes.add(topic, this);
            }
            tell(topic, true);
        }
    }

    /** Takes one registration of the topic off, if there is one. */
    private void remove(ByteBuf topic) {
        boolean there = wanted.containsKey(topic);
        Integer left = wanted.computeIfPresent(topic, (t, count) -> count == 1 ? null : count - 1);
        if (there && left == null) {
            if (!groups) {
                prefixes.remove(topic, this);
            }
            tell(topic, false);
        }
    }

    private void tell(ByteBuf topic, boolean add) {
        for (Peer publisher : publishers) {
            tell(publisher, topic, add);
        }
    }

    private void tell(Peer publisher, ByteBuf topic, boolean add) {
        PeerHandler link = publisher.link();
        if (link != null) {
            link.command(groups ? membership(topic, add) : subscription(topic, add));
        }
    }

    private static ZMTPSubscription subscription(ByteBuf topic, boolean add) {
        return add ? ZMTPSubscription.subscribe(topic) : ZMTPSubscription.cancel(topic);
    }

    private static ZMTPMembership membership(ByteBuf group, boolean join) {
        return join ? ZMTPMembership.join(group) : ZMTPMembership.leave(group);
    }

    public void up(Peer publisher) {
        publishers.add(publisher);
        wanted.keySet().forEach(topic -> tell(publisher, topic, true));
    }

    public void down(Peer publisher) {
        publishers.remove(publisher);
    }

    /** Returns whether messages whose first frame is this one are wanted. */
    boolean match(ByteBuf first) {
        if (groups) {
            return wanted.containsKey(first);
        }
        matched = wanted.containsKey(Unpooled.EMPTY_BUFFER);
        if (!matched) {
            prefixes.match(first, its -> matched = true);
        }
        return matched;
    }
}
