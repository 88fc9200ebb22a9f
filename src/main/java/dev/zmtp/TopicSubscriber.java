package dev.zmtp;

import org.jspecify.annotations.Nullable;

/**
 * Subscriber of a {@link ZMTPTopicMatcher}, with the nodes of its topics and its index in the list of each node. A
 * topic is therefore added, found and removed in constant time, regardless of the number of its topics and of other
 * subscribers to the same topic.
 *
 * <p>A hash table with linear probing. Nodes are found by their identity hash, which a peer can neither see nor choose.
 */
final class TopicSubscriber {

    private static final TopicNode[] NO_NODES = {};
    private static final int[] NO_PLACES = {};

    /**
     * Memory of this object and of its entry in the matcher's map, in bytes. Each takes 40 bytes, including their
     * fields and the slots of a half-full table.
     */
    private static final int BYTES = 80;

    private static final int LEAST_CAPACITY = 2;
    private static final int GOLDEN_RATIO = 0x9e3779b9; // spreads hashes whose low bits are alike

    /** Subscriber as passed to the matcher. */
    final Object value;

    /** Last match that found this subscriber, so that it is found only once when several of its topics match. */
    long lastMatch;

    private @Nullable TopicNode[] nodes = NO_NODES;
    private int[] places = NO_PLACES;
    private int size;
    private int next;

    TopicSubscriber(Object value) {
        this.value = value;
    }

    /** Returns the memory of this subscriber on the heap, without its nodes, in bytes. */
    int memory() {
        return nodes.length == 0 ? BYTES : BYTES + 2 * HeapSize.ofReferences(nodes.length);
    }

    /** Returns the number of bytes that another node adds to {@link #memory}. */
    int growth() {
        return mustGrow() ? BYTES + 2 * HeapSize.ofReferences(grown()) - memory() : 0;
    }

    private boolean mustGrow() {
        return 3 * (size + 1) > 2 * nodes.length;
    }

    private int grown() {
        return Math.max(LEAST_CAPACITY, 2 * nodes.length);
    }

    int size() {
        return size;
    }

    boolean contains(TopicNode node) {
        return size > 0 && nodes[slot(node)] != null;
    }

    /** Returns the number of slots in the table. */
    int slots() {
        return nodes.length;
    }

    /** Returns the node in {@code slot}, or null. */
    @Nullable
    TopicNode node(int slot) {
        return nodes[slot];
    }

    /**
     * Returns any node; there must be one. If nodes were removed in the order of their slots, the others would crowd a
     * part of the table, where a search takes long.
     */
    TopicNode any() {
        int mask = nodes.length - 1;
        while (true) {
            TopicNode node = nodes[next++ * GOLDEN_RATIO & mask];
            if (node != null) {
                return node;
            }
        }
    }

    /** Leaves the node in {@code slot}, which must not be empty. Only other nodes can be left after this. */
    void leave(int slot) {
        nodes[slot].removeSubscriber(places[slot]);
        size--;
    }

    /** Subscribes to the topic of {@code node}, which must be a new topic of this subscriber. */
    void add(TopicNode node) {
        if (mustGrow()) {
            resize(grown());
        }
        put(node, node.addSubscriber(this));
        size++;
    }

    /** Ends the subscription to the topic of {@code node}, which must exist. */
    void remove(TopicNode node) {
        int slot = slot(node);
        node.removeSubscriber(places[slot]);
        size--;
        close(slot);
        if (size == 0) {
            nodes = NO_NODES;
            places = NO_PLACES;
        } else if (8 * size < nodes.length) {
            resize(nodes.length / 2);
        }
    }

    /** Records that this subscriber is now at {@code place} in the list of {@code node}. */
    void move(TopicNode node, int place) {
        places[slot(node)] = place;
    }

    /** Empties {@code slot}, and moves entries up that could not be found otherwise. */
    private void close(int slot) {
        int mask = nodes.length - 1;
        int gap = slot;
        nodes[gap] = null;
        for (int i = (slot + 1) & mask; ; i = (i + 1) & mask) {
            TopicNode node = nodes[i];
            if (node == null) {
                return;
            }
            if (((i - home(node)) & mask) >= ((i - gap) & mask)) { // its home is not between the gap and its slot
                nodes[gap] = node;
                places[gap] = places[i];
                nodes[i] = null;
                gap = i;
            }
        }
    }

    private void put(TopicNode node, int place) {
        int slot = slot(node);
        nodes[slot] = node;
        places[slot] = place;
    }

    /** Returns the slot of {@code node}, or the free slot where it would be. A third of the slots are free. */
    private int slot(TopicNode node) {
        int mask = nodes.length - 1;
        int slot = home(node);
        while (nodes[slot] != null && nodes[slot] != node) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private int home(TopicNode node) {
        return (System.identityHashCode(node) * GOLDEN_RATIO) >>> (Integer.numberOfLeadingZeros(nodes.length) + 1);
    }

    private void resize(int capacity) {
        TopicNode[] oldNodes = nodes;
        int[] oldPlaces = places;
        TopicNode[] newNodes = new TopicNode[capacity];
        places = new int[capacity]; // either both are replaced or, if there is no memory, neither
        nodes = newNodes;
        for (int i = 0; i < oldNodes.length; i++) {
            if (oldNodes[i] != null) {
                put(oldNodes[i], oldPlaces[i]);
            }
        }
    }
}
