package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the subscribers of a message, which are those that have subscribed to a prefix of its topic, the first frame
 * (RFC 29). A matcher is meant for a publisher with many subscribers and topics.
 *
 * <p>A match reads each byte of the message's topic at most once, regardless of the number of topics, and allocates
 * nothing. The time to add or remove a topic depends only on its length. The empty topic is a prefix of every topic.
 *
 * <p><b>Set semantics.</b> Adding a topic twice has no effect, and a single {@code remove} cancels it. Publishers of
 * libzmq treat their peers in this way, and the codec counts {@code maxSubscriptions} in this way. The subscribers of
 * libzmq rely on it, because for a topic that is subscribed to several times they send each subscription, but only a
 * single cancellation at the end. To count subscriptions instead, add a separate object for each subscription, and see
 * {@link #subscribers}.
 *
 * <p><b>Bounds.</b> Peers choose the topics, so their number and their memory are bounded, by default to
 * {@value #DEFAULT_MAX_SIZE} and {@link #defaultMaxMemory()}. The memory is measured on the heap of a JVM with
 * compressed references, for all topics, nodes and lists together. A subscription that would exceed a bound is refused
 * and changes nothing.
 *
 * <p><b>Threads.</b> Not thread safe. Use a separate matcher for each event loop.
 *
 * @param <S> a subscriber, such as a {@code Channel}. Subscribers are compared with {@code equals}
 */
public final class ZMTPTopicMatcher<S> {

    /** Default maximum number of pairs of topic and subscriber. */
    public static final int DEFAULT_MAX_SIZE = 1_000_000;

    private static final long MOST_DEFAULT_MEMORY = 64L << 20;
    private static final TopicSubscriber[] NO_SUBSCRIBERS = {};

    private final int maxSize;
    private final long maxMemory;

    private final TopicNode root = new TopicNode(null, new byte[0]);
    private Map<S, TopicSubscriber> subscribers = new HashMap<>();

    /** Maximum number of subscribers since the map was created, whose table does not shrink. */
    private int peak;

    private int size;
    private long memory;

    /**
     * Subscribers found by the matches in progress. There are {@code found} of them, those of an inner match last. The
     * array has room for all subscribers.
     */
    private TopicSubscriber[] hits = NO_SUBSCRIBERS;

    private int found;
    private long matches;

    /** Creates a matcher of at most {@value #DEFAULT_MAX_SIZE} pairs and at most {@link #defaultMaxMemory()} bytes. */
    public ZMTPTopicMatcher() {
        this(DEFAULT_MAX_SIZE, defaultMaxMemory());
    }

    /**
     * Creates a matcher with these bounds.
     *
     * @param maxSize the maximum number of pairs of topic and subscriber, at least 1
     * @param maxMemory the maximum number of bytes of {@link #memory()}, at least 1
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

    /** Returns the default maximum memory in bytes, an eighth of this JVM's maximum heap size and at most 64 MiB. */
    public static long defaultMaxMemory() {
        return Math.min(MOST_DEFAULT_MEMORY, Runtime.getRuntime().maxMemory() / 8);
    }

    /**
     * Subscribes {@code subscriber} to the messages whose topic starts with the readable bytes of {@code topic}, which
     * are copied. No index is moved, and nothing is released.
     *
     * @return whether the subscription is new; false if the subscriber already has this topic
     * @throws ZMTPException with the code {@code TOO_LARGE}, if the subscription would exceed a bound; it then changes
     *     nothing
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

    /**
     * Removes the node and the subscriber if they are not needed otherwise. Their memory is known only once they exist.
     */
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
     * Ends the subscription to the readable bytes of {@code topic}, whose indices are not moved.
     *
     * @return whether the subscription existed
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
     * Ends all subscriptions of {@code subscriber}, for example after its connection has closed.
     *
     * @return the number of ended subscriptions
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
     * Ends at most {@code max} subscriptions of {@code subscriber}, in no particular order. The end of a subscriber
     * with many topics can thus be divided among several tasks.
     *
     * @param action called with a copy of each topic and the number of its other subscribers. It must not change this
     *     matcher
     * @return the number of ended subscriptions; less than {@code max} if the subscriber has no more
     */
    public int removeSome(S subscriber, int max, ObjIntConsumer<? super ByteBuf> action) {
        TopicSubscriber its = subscribers.get(subscriber);
        int removed = 0;
        for (; its != null && its.size() > 0 && removed < max; removed++) {
            TopicNode node = its.any();
            action.accept(Unpooled.wrappedBuffer(node.topic()), node.subscriberCount() - 1);
            remove(its, node);
        }
        return removed;
    }

    /**
     * Calls {@code action} once for each subscriber to a prefix of the readable bytes of {@code topic}, in no
     * particular order. No index is moved, and nothing is released.
     *
     * <p>The action can change this matcher, and call this method again. It is called for the subscribers at the
     * beginning of the match, except for a subscriber whose subscriptions have all ended since. If it throws, the
     * remaining subscribers are skipped.
     *
     * @param topic the first frame of a message
     */
    public void match(ByteBuf topic, Consumer<? super S> action) {
        int first = found;
        try {
            collect(topic);
            int last = found; // before it are ours, after it those of matches that the action makes
            for (int i = first; i < last; i++) {
                TopicSubscriber hit = hits[i];
                if (hit.size() > 0) {
                    action.accept(value(hit));
                }
            }
        } finally {
            Arrays.fill(hits, first, found, null); // so that it keeps no subscriber that is removed
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

    /**
     * Returns the topic that follows {@code topic}, of any subscriber. A program can thus go through all topics in
     * steps, between which topics are added and removed. Topics are ordered like their bytes by
     * {@link Arrays#compare(byte[], byte[])}.
     *
     * @param topic any bytes, or null for the first topic. No index is moved
     * @return a copy of the topic; null if no topic follows
     */
    public @Nullable ByteBuf topicAfter(@Nullable ByteBuf topic) {
        boolean isFirst = topic == null && root.subscriberCount() > 0;
        TopicNode next = isFirst ? root : root.after(topic == null ? Unpooled.EMPTY_BUFFER : topic);
        return next == null ? null : Unpooled.wrappedBuffer(next.topic());
    }

    /**
     * Returns the number of subscribers to exactly the readable bytes of {@code topic}. Subscribers to a shorter prefix
     * do not count.
     */
    public int subscriberCount(ByteBuf topic) {
        TopicNode node = find(topic);
        return node == null ? 0 : node.subscriberCount();
    }

    /** Returns whether there are no subscriptions. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Returns the number of pairs of topic and subscriber. */
    public int size() {
        return size;
    }

    /**
     * Returns the memory of all subscriptions on the heap, without the subscribers themselves, in bytes. It is zero if
     * there are no subscriptions.
     */
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

    /** Returns the new or existing node for {@code topic}. */
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

    /** Removes {@code node} if it is no longer needed, and a parent that was needed only as a branch to it. */
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

    /** Shrinks the capacity for subscribers when few of many remain. */
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
