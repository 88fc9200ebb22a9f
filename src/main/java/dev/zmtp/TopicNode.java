package dev.zmtp;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Node of a {@link ZMTPTopicMatcher}. Its topic is the topic of its parent followed by its label. Each node except the
 * root has subscribers or at least two children. A run of bytes in which no topic ends or branches is therefore a
 * single label.
 */
final class TopicNode {

    private static final byte[] NO_KEYS = {};
    private static final TopicNode[] NO_CHILDREN = {};
    private static final TopicSubscriber[] NO_SUBSCRIBERS = {};

    /** Memory of the object itself, which is a header of 12 bytes, six references and two numbers, aligned. */
    private static final int BYTES = 48;

    private @Nullable TopicNode parent;
    private byte[] label;

    /** First byte of each child's label, in ascending order. */
    private byte[] keys = NO_KEYS;

    private TopicNode[] children = NO_CHILDREN;

    /** Children indexed by key if their keys are contiguous, like the digits of numbers; otherwise empty. */
    private TopicNode[] inARow = NO_CHILDREN;

    private int firstKey;
    private TopicSubscriber[] subscribers = NO_SUBSCRIBERS;
    private int subscriberCount;

    /** Creates a node without subscribers or children. It keeps {@code label}. */
    TopicNode(@Nullable TopicNode parent, byte[] label) {
        this.parent = parent;
        this.label = label;
    }

    /** Returns the memory of this node on the heap, without its children, in bytes. */
    int memory() {
        int memory = BYTES + HeapSize.ofBytes(label.length);
        if (children.length > 0) {
            memory += HeapSize.ofBytes(keys.length) + HeapSize.ofReferences(children.length);
        }
        if (subscribers.length > 0) {
            memory += HeapSize.ofReferences(subscribers.length);
        }
        return memory;
    }

    /** Returns the number of bytes that another subscriber adds to {@link #memory}. */
    int growth() {
        if (subscriberCount < subscribers.length) {
            return 0;
        }
        int before = subscribers.length == 0 ? 0 : HeapSize.ofReferences(subscribers.length);
        return HeapSize.ofReferences(grown()) - before;
    }

    private int grown() {
        return subscriberCount + (subscriberCount >> 1) + 1;
    }

    @Nullable
    TopicNode parent() {
        return parent;
    }

    /** Returns the whole topic, which consists of the labels from the root to this node. */
    byte[] topic() {
        int length = 0;
        for (TopicNode node = this; node != null; node = node.parent) {
            length += node.label.length;
        }
        byte[] topic = new byte[length];
        for (TopicNode node = this; node != null; node = node.parent) {
            length -= node.label.length;
            System.arraycopy(node.label, 0, topic, length, node.label.length);
        }
        return topic;
    }

    int labelLength() {
        return label.length;
    }

    int childCount() {
        return children.length;
    }

    int subscriberCount() {
        return subscriberCount;
    }

    TopicSubscriber subscriber(int index) {
        return subscribers[index];
    }

    /** Returns the child whose label starts with {@code key}, or null. */
    @Nullable
    TopicNode child(byte key) {
        TopicNode[] row = inARow;
        int index = key - firstKey;
        return index >= 0 && index < row.length ? row[index] : search(key);
    }

    private @Nullable TopicNode search(byte key) {
        if (keys.length == inARow.length) {
            return null;
        }
        int index = Arrays.binarySearch(keys, key);
        return index < 0 ? null : children[index];
    }

    /**
     * Returns the node with subscribers that follows {@code topic} among this node, which is the root, and all others;
     * null if there is none. They are ordered like arrays by {@link Arrays#compare(byte[], byte[])}.
     */
    @Nullable
    TopicNode after(ByteBuf topic) {
        int end = topic.writerIndex();
        int index = topic.readerIndex();
        TopicNode node = this;
        while (index < end) {
            TopicNode child = node.child(topic.getByte(index));
            if (child == null) {
                return node.firstFrom(topic.getByte(index));
            }
            int common = child.common(topic, index);
            index += common;
            if (common < child.label.length) {
                boolean isBefore = index == end || topic.getByte(index) < child.label[common];
                return isBefore ? child.first() : child.firstBeyond();
            }
            node = child;
        }
        return node.firstFrom(Byte.MIN_VALUE);
    }

    /** Returns the first node with subscribers below this node, from the key on, or beyond this node. */
    private @Nullable TopicNode firstFrom(byte key) {
        int index = Arrays.binarySearch(keys, key);
        int next = index < 0 ? -index - 1 : index;
        return next < children.length ? children[next].first() : firstBeyond();
    }

    /** Returns the first node with subscribers that is neither before, nor below this node. */
    private @Nullable TopicNode firstBeyond() {
        for (TopicNode node = this; node.parent != null; node = node.parent) {
            int next = Arrays.binarySearch(node.parent.keys, node.label[0]) + 1;
            if (next < node.parent.children.length) {
                return node.parent.children[next].first();
            }
        }
        return null;
    }

    /** Returns the first node with subscribers among this node and those below it. */
    private TopicNode first() {
        TopicNode node = this;
        while (node.subscriberCount == 0) {
            node = node.children[0];
        }
        return node;
    }

    /** Returns the only child of a node that has a single child. */
    TopicNode onlyChild() {
        return children[0];
    }

    /**
     * Returns the number of leading bytes that the label and the bytes from {@code index} share. The first byte is
     * assumed to match.
     */
    int common(ByteBuf topic, int index) {
        int most = Math.min(label.length, topic.writerIndex() - index);
        int common = 1;
        while (common < most && topic.getByte(index + common) == label[common]) {
            common++;
        }
        return common;
    }

    private void setChildren(byte[] newKeys, TopicNode[] newChildren) {
        keys = newKeys;
        children = newChildren;
        firstKey = newKeys.length == 0 ? 0 : newKeys[0];
        boolean gapless = newKeys.length > 0 && newKeys[newKeys.length - 1] - firstKey == newKeys.length - 1;
        inARow = gapless ? newChildren : NO_CHILDREN;
    }

    void addChild(TopicNode child) {
        int index = -Arrays.binarySearch(keys, child.label[0]) - 1;
        byte[] newKeys = new byte[keys.length + 1];
        TopicNode[] newChildren = new TopicNode[newKeys.length];
        System.arraycopy(keys, 0, newKeys, 0, index);
        System.arraycopy(children, 0, newChildren, 0, index);
        newKeys[index] = child.label[0];
        newChildren[index] = child;
        System.arraycopy(keys, index, newKeys, index + 1, keys.length - index);
        System.arraycopy(children, index, newChildren, index + 1, keys.length - index);
        setChildren(newKeys, newChildren);
    }

    void removeChild(TopicNode child) {
        int index = Arrays.binarySearch(keys, child.label[0]);
        int left = keys.length - 1;
        if (left == 0) {
            setChildren(NO_KEYS, NO_CHILDREN);
            return;
        }
        byte[] newKeys = Arrays.copyOf(keys, left);
        TopicNode[] newChildren = Arrays.copyOf(children, left);
        System.arraycopy(keys, index + 1, newKeys, index, left - index);
        System.arraycopy(children, index + 1, newChildren, index, left - index);
        setChildren(newKeys, newChildren);
    }

    /**
     * Inserts a new node between this node and its parent. The new node takes the first {@code length} bytes of the
     * label.
     */
    TopicNode split(int length) {
        TopicNode middle = new TopicNode(parent, Arrays.copyOf(label, length));
        replaceInParentBy(middle);
        label = Arrays.copyOfRange(label, length, label.length);
        parent = middle;
        middle.setChildren(new byte[] {label[0]}, new TopicNode[] {this});
        return middle;
    }

    /** Replaces this node with its only child, which gets both labels. This node is not used any more. */
    void mergeIntoChild() {
        TopicNode child = children[0];
        byte[] both = Arrays.copyOf(label, label.length + child.label.length);
        System.arraycopy(child.label, 0, both, label.length, child.label.length);
        child.label = both;
        child.parent = parent;
        replaceInParentBy(child);
    }

    private void replaceInParentBy(TopicNode other) {
        if (parent != null) {
            parent.children[Arrays.binarySearch(parent.keys, label[0])] = other;
        }
    }

    /** Adds {@code subscriber} and returns its index. */
    int addSubscriber(TopicSubscriber subscriber) {
        if (subscriberCount == subscribers.length) {
            subscribers = Arrays.copyOf(subscribers, grown());
        }
        subscribers[subscriberCount] = subscriber;
        return subscriberCount++;
    }

    /**
     * Removes the subscriber at {@code index}. The last subscriber takes its place and is notified of its new index.
     */
    void removeSubscriber(int index) {
        int last = --subscriberCount;
        TopicSubscriber moved = subscribers[last];
        subscribers[last] = null; // so that it is not kept
        if (index < last) {
            subscribers[index] = moved;
            moved.move(this, index);
        }
        if (last == 0) {
            subscribers = NO_SUBSCRIBERS;
        } else if (last <= subscribers.length / 4) {
            subscribers = Arrays.copyOf(subscribers, last * 2);
        }
    }
}
