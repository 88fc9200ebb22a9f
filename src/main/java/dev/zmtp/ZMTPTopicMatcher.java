package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the subscribers of a message by its topic: all that have subscribed to a prefix of it (RFC 29). For a publisher
 * with any number of subscribers and topics.
 *
 * <p>A match reads each byte of the message's topic at most once, however many topics there are, and allocates nothing.
 * A topic is added or removed in a time that depends on its length alone. The empty topic is a prefix of everything.
 *
 * <p><b>A set.</b> Adding a topic twice has no effect, and one {@code remove} cancels it. This is how the publishers of
 * libzmq understand their peers, and how the codec counts {@code maxSubscriptions}. libzmq's subscribers rely on it:
 * they send a subscription each time, but a single cancel at the end. To count instead, add an object of its own for
 * each subscription, and see {@link #subscribers}.
 *
 * <p><b>Bounds.</b> Peers choose the topics, so there is a bound on their number and on the memory that they take, by
 * default {@value #DEFAULT_MAX_SIZE} and {@link #defaultMaxMemory()}. Memory is counted as it is on the heap of a JVM
 * with compressed references, for all topics, nodes and lists together. What would exceed a bound is refused, and
 * changes nothing.
 *
 * <p><b>Threads.</b> Not thread-safe: use one for each event loop.
 *
 * @param <S> a subscriber, such as a {@code Channel}. Subscribers are compared with {@code equals}
 */
public final class ZMTPTopicMatcher<S> {

    /** The most pairs of topic and subscriber, unless a constructor is given another number. */
    public static final int DEFAULT_MAX_SIZE = 1_000_000;

    private static final long MOST_DEFAULT_MEMORY = 64L << 20;
    private static final TopicSubscriber[] NO_SUBSCRIBERS = {};

    private final int maxSize;
    private final long maxMemory;

    private final TopicNode root = new TopicNode(null, new byte[0]);
    private Map<S, TopicSubscriber> subscribers = new HashMap<>();

    /** The most subscribers since the map was made: its table does not shrink. */
    private int peak;

    private int size;
    private long memory;

    /**
     * What the matches under way have found: {@code found} of them, those of an inner match last. It has room for all
     * subscribers.
     */
    private TopicSubscriber[] hits = NO_SUBSCRIBERS;

    private int found;
    private long matches;

    /** A matcher of at most {@value #DEFAULT_MAX_SIZE} pairs in at most {@link #defaultMaxMemory()} bytes. */
    public ZMTPTopicMatcher() {
        this(DEFAULT_MAX_SIZE, defaultMaxMemory());
    }

    /**
     * A matcher with these bounds.
     *
     * @param maxSize the most pairs of topic and subscriber, at least 1
     * @param maxMemory the most bytes of {@link #memory()}, at least 1
     */
    public ZMTPTopicMatcher(int maxSize, long maxMemory) {
        this.maxSize = (int) atLeastOne("maxSize", maxSize);
        this.maxMemory = atLeastOne("maxMemory", maxMemory);
    }

    private static long atLeastOne(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1)");
        }
        return value;
    }

    /** The most bytes of memory by default: an eighth of the greatest heap of this JVM, and at most 64 MiB. */
    public static long defaultMaxMemory() {
        return Math.min(MOST_DEFAULT_MEMORY, Runtime.getRuntime().maxMemory() / 8);
    }

    /**
     * Subscribes {@code subscriber} to the messages whose topic starts with the readable bytes of {@code topic}, which
     * are copied. No index is moved, and nothing is released.
     *
     * @return whether this is new: false if the subscriber has this topic already
     * @throws ZMTPException with the code {@code TOO_LARGE}, if it does not fit the bounds. Nothing has changed then
     */
    public boolean add(ByteBuf topic, S subscriber) {
        Objects.requireNonNull(subscriber, "subscriber");
        int room = hits.length;
        TopicNode node = insert(topic);
        TopicSubscriber its = subscribers.get(subscriber);
        if (its == null) {
            its = newSubscriber(subscriber);
        } else if (its.contains(node)) {
            return false;
        }
        long needed = memory + its.growth() + node.growth();
        if (size == maxSize || needed > maxMemory) {
            undo(its, node, room);
            throw size == maxSize
                    ? ZMTPException.tooLarge("topics of all subscribers", size + 1L, maxSize)
                    : ZMTPException.tooLarge("memory of the topics of all subscribers", needed, maxMemory);
        }
        its.add(node);
        memory = needed;
        size++;
        return true;
    }

    /** Removes the node and the subscriber, if nothing else needs them. Only with them is it known what they take. */
    private void undo(TopicSubscriber its, TopicNode node, int room) {
        prune(node);
        if (its.size() == 0) {
            forget(its);
        }
        if (hits.length > room) {
            resizeHits(room);
        }
    }

    /**
     * Ends the subscription to {@code topic}, whose indices are not moved.
     *
     * @return whether there was one
     */
    public boolean remove(ByteBuf topic, S subscriber) {
        TopicSubscriber its = subscribers.get(subscriber);
        TopicNode node = find(topic);
        if (its == null || node == null || !its.contains(node)) {
            return false;
        }
        remove(its, node);
        return true;
    }

    private void remove(TopicSubscriber its, TopicNode node) {
        memory -= its.memory() + node.memory();
        its.remove(node);
        memory += its.memory() + node.memory();
        size--;
        prune(node);
        if (its.size() == 0) {
            forget(its);
        }
    }

    /**
     * Ends all subscriptions of {@code subscriber}, as when its connection has closed.
     *
     * @return how many there were
     */
    public int removeAll(S subscriber) {
        TopicSubscriber its = subscribers.get(subscriber);
        if (its == null) {
            return 0;
        }
        int topics = its.size();
        for (int slot = 0; slot < its.slots(); slot++) {
            TopicNode node = its.node(slot);
            if (node != null) {
                memory -= node.memory();
                its.leave(slot);
                memory += node.memory();
                prune(node);
            }
        }
        size -= topics;
        forget(its);
        return topics;
    }

    /**
     * Calls {@code action} once for each subscriber that has a prefix of the readable bytes of {@code topic}, in no
     * particular order. No index is moved, and nothing is released.
     *
     * <p>The action may change this matcher, and match. It is called for those that were subscribed at the beginning,
     * but not for one whose subscriptions have all ended since. If it throws, the rest are not called.
     *
     * @param topic the first frame of a message
     */
    public void match(ByteBuf topic, Consumer<? super S> action) {
        int first = found;
        collect(topic);
        int last = found; // before it are ours, after it those of matches that the action makes
        try {
            for (int i = first; i < last; i++) {
                TopicSubscriber hit = hits[i];
                if (hit.size() > 0) {
                    action.accept(value(hit));
                }
            }
        } finally {
            Arrays.fill(hits, first, last, null); // so that it keeps no subscriber that is removed
            found = first;
            shrink();
        }
    }

    @SuppressWarnings("unchecked") // only what newSubscriber was given
    private S value(TopicSubscriber subscriber) {
        return (S) subscriber.value;
    }

    private void collect(ByteBuf topic) {
        matches++;
        int end = topic.writerIndex();
        int index = topic.readerIndex();
        TopicNode node = root;
        while (true) {
            if (node.subscriberCount() > 0) {
                hitAll(node);
            }
            TopicNode child = index == end ? null : node.child(topic.getByte(index));
            if (child == null) {
                return;
            }
            if (child.labelLength() == 1) { // which the processor can guess, and go on
                index++;
            } else if (child.common(topic, index) < child.labelLength()) {
                return;
            } else {
                index += child.labelLength();
            }
            node = child;
        }
    }

    private void hitAll(TopicNode node) {
        for (int i = 0; i < node.subscriberCount(); i++) {
            hit(node.subscriber(i));
        }
    }

    private void hit(TopicSubscriber subscriber) {
        if (subscriber.lastMatch == matches) {
            return; // one of its topics is a prefix of another
        }
        subscriber.lastMatch = matches;
        if (found == hits.length) { // a match inside a match
            resizeHits(2 * found);
        }
        hits[found++] = subscriber;
    }

    /**
     * Calls {@code action} for each topic of {@code subscriber}, in no particular order. The topics are copies. The
     * action must not change this matcher.
     */
    public void forEachTopic(S subscriber, Consumer<? super ByteBuf> action) {
        TopicSubscriber its = subscribers.get(subscriber);
        for (int slot = 0; its != null && slot < its.slots(); slot++) {
            TopicNode node = its.node(slot);
            if (node != null) {
                action.accept(Unpooled.wrappedBuffer(node.topic()));
            }
        }
    }

    /** How many subscribers have exactly the topic that is the readable bytes of {@code topic}, and no prefix of it. */
    public int subscribers(ByteBuf topic) {
        TopicNode node = find(topic);
        return node == null ? 0 : node.subscriberCount();
    }

    /** Whether there is no subscription. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** The number of pairs of topic and subscriber. */
    public int size() {
        return size;
    }

    /** The bytes that all subscriptions take on the heap, without the subscribers themselves. Zero if there is none. */
    public long memory() {
        return memory;
    }

    private @Nullable TopicNode find(ByteBuf topic) {
        int end = topic.writerIndex();
        int index = topic.readerIndex();
        TopicNode node = root;
        while (index < end) {
            TopicNode child = node.child(topic.getByte(index));
            if (child == null || child.common(topic, index) < child.labelLength()) {
                return null;
            }
            index += child.labelLength();
            node = child;
        }
        return node;
    }

    /** Returns a node for {@code topic}, a new one or one that was there. */
    private TopicNode insert(ByteBuf topic) {
        int end = topic.writerIndex();
        int index = topic.readerIndex();
        TopicNode node = root;
        while (index < end) {
            TopicNode child = node.child(topic.getByte(index));
            if (child == null) {
                return addLeaf(node, ByteBufUtil.getBytes(topic, index, end - index));
            }
            int common = child.common(topic, index);
            node = common < child.labelLength() ? split(child, common) : child;
            index += common;
        }
        return node;
    }

    private TopicNode addLeaf(TopicNode parent, byte[] label) {
        TopicNode leaf = new TopicNode(parent, label);
        memory -= parent.memory();
        parent.addChild(leaf);
        memory += parent.memory() + leaf.memory();
        return leaf;
    }

    private TopicNode split(TopicNode node, int length) {
        memory -= node.memory();
        TopicNode middle = node.split(length);
        memory += node.memory() + middle.memory();
        return middle;
    }

    /** Removes {@code node} if it is not needed any more, and a parent that was needed only as they parted there. */
    private void prune(TopicNode node) {
        TopicNode parent = node.parent();
        if (parent == null || node.subscriberCount() > 0) {
            return;
        }
        if (node.childCount() == 0) {
            memory -= parent.memory() + node.memory();
            parent.removeChild(node);
            memory += parent.memory();
            mergeIfOnlyOneWay(parent);
        } else {
            mergeIfOnlyOneWay(node);
        }
    }

    private void mergeIfOnlyOneWay(TopicNode node) {
        if (node != root && node.subscriberCount() == 0 && node.childCount() == 1) {
            TopicNode child = node.onlyChild();
            memory -= node.memory() + child.memory();
            node.mergeIntoChild();
            memory += child.memory();
        }
    }

    private TopicSubscriber newSubscriber(S subscriber) {
        TopicSubscriber its = new TopicSubscriber(subscriber);
        subscribers.put(subscriber, its);
        peak = Math.max(peak, subscribers.size());
        memory += its.memory();
        if (subscribers.size() > hits.length) {
            resizeHits(Math.max(4, 2 * hits.length));
        }
        return its;
    }

    private void forget(TopicSubscriber its) {
        memory -= its.memory();
        subscribers.remove(value(its));
        shrink();
    }

    /** Keeps no room for many subscribers when there are few. */
    private void shrink() {
        int now = subscribers.size();
        if (4 * now < peak) {
            subscribers = new HashMap<>(subscribers);
            peak = now;
        }
        if (found == 0 && 4 * now < hits.length) {
            resizeHits(2 * now);
        }
    }

    private void resizeHits(int length) {
        if (hits.length > 0) {
            memory -= HeapSize.ofReferences(hits.length);
        }
        hits = length == 0 ? NO_SUBSCRIBERS : Arrays.copyOf(hits, length);
        if (length > 0) {
            memory += HeapSize.ofReferences(length);
        }
    }
}
