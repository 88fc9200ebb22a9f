package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.Count;
import dev.zmtp.internal.transport.QueueLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The messages that wait for a given peer, or for any peer with room. Used on the socket's event loop. Its numbers can
 * be read from any thread.
 * <p>It counts as slow from half full until it is less than a quarter full.
 */
public final class SendQueue {

    /** Number of leftovers that are not worth a pass over the queue. */
    private static final int FEW = 16;

    /** Maximum number of messages that are measured again in a call, which does nothing else with them. */
    private static final int MEASURED = 16_384;

    private final Queue<QueuedMessage> waiting = new ConsistentDeque<>();

    private final Count messages = new Count();
    private final Count bytes = new Count();

    /** Time when the oldest waiting message was added. */
    private final Count oldestSince = new Count();

    /** Number of places reserved by other threads for messages that have not been added yet. */
    private final AtomicInteger reserved = new AtomicInteger();

    /**
     * Memory that counts the messages; null if the queue belongs to no peer but contains the application's messages for
     * any peer.
     */
    private final @Nullable PeerMemory memory;

    private volatile QueueLimit limit;
    private volatile boolean awaited;
    private volatile boolean slow;

    /** True if {@code QueueShares}, its only user, measures the messages again. */
    private boolean watched;

    /** Number of messages, from the first, that were measured again. */
    private int measured;

    /** Creates the queue of a socket, for any peer with room. */
    public SendQueue(QueueLimit limit) {
        this(limit, null);
    }

    /** Creates the queue of a peer. */
    SendQueue(QueueLimit limit, @Nullable PeerMemory memory) {
        this.limit = limit;
        this.memory = memory;
    }

    public boolean hasRoom() {
        return messagesLeft() > 0 && bytes.get() < limit.bytes() && !isMuch();
    }

    /** Returns whether a quarter of the queue is free. From any thread. */
    public boolean hasMuchRoom() {
        QueueLimit much = limit.quarter();
        return messagesLeft() >= much.messages() && bytesLeft() >= much.bytes() && !isMuch();
    }

    private boolean isMuch() {
        return memory != null && memory.hasMuchToSend();
    }

    /**
     * Returns whether the queue is at its limit. Reserved places do not count, because their messages have not been
     * added yet.
     */
    boolean isFull() {
        return isAtLimit() || isMuch();
    }

    /** Returns whether the queue is full, however much memory is left. */
    boolean isAtLimit() {
        return isAbove(1);
    }

    /** Reserves a place for a message if there is room. From any thread. */
    @CheckReturnValue
    public boolean reserve() {
        while (true) { // a place that was taken for a moment would be missed by others
            int now = reserved.get();
            if (limit.messages() - messages.get() - now <= 0 || bytes.get() >= limit.bytes() || isMuch()) {
                return false;
            }
            if (reserved.compareAndSet(now, now + 1)) {
                return true;
            }
        }
    }

    /** Sets whether threads wait for a place, so that the messages of others have to wait behind them. */
    public void awaited(boolean threadsWait) {
        awaited = threadsWait;
    }

    /** Returns whether threads wait for a place. From any thread. */
    public boolean isAwaited() {
        return awaited;
    }

    /** Called after the message with the reserved place was added, or if it is not added. From any thread. */
    public void unreserve() {
        reserved.decrementAndGet();
    }

    public boolean isEmpty() {
        return messages.get() == 0;
    }

    public void add(ZMTPMessage message, @Nullable CompletableFuture<Void> result, long since) {
        add(message, result, null, message.readableBytes(), since);
    }

    /**
     * Adds a message that counts for {@code size} bytes. If it is a small part of a large buffer and has no other
     * owner, a copy is added in its place, because it can wait for long.
     */
    public void add(
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            @Nullable Outgoing request,
            long size,
            long since) {
        ZMTPMessage kept = request == null && message.refCnt() == 1 ? MessageMemory.compact(message) : message;
        QueuedMessage queued = new QueuedMessage(kept, result, request, size, since);
        if (isEmpty()) {
            oldestSince.set(since);
        }
        waiting.add(queued);
        queued.joined(); // only now, because there might be no memory for it
        messages.add(1);
        bytes.add(queued.bytes());
        if (memory != null) {
            memory.queued(queued.measure());
        }
    }

    boolean isWatched() {
        return watched;
    }

    void watched(boolean measuredAgain) {
        watched = measuredAgain;
    }

    /** Measures messages again, and those of a very long queue in several calls. */
    void measureAgain() {
        int from = measured < waiting.size() ? measured : 0;
        int to = from + MEASURED;
        long grown = 0;
        int number = 0;
        for (Iterator<QueuedMessage> each = waiting.iterator(); number < to && each.hasNext(); number++) {
            QueuedMessage queued = each.next();
            if (number >= from && queued.isThere()) {
                grown += queued.measureAgain();
            }
        }
        measured = to;
        Objects.requireNonNull(memory, "a peer's").queued(grown); // last, because it can end a peer
    }

    /** Removes and returns the first message, which is sent; null if there is none. */
    @Nullable
    public QueuedMessage poll() {
        QueuedMessage next = drop();
        if (next != null && memory != null) {
            memory.moved(next.memory());
        }
        return next;
    }

    /** Removes and returns the first message, which the peer does not get; null if there is none. */
    @Nullable
    QueuedMessage drop() {
        QueuedMessage next = waiting.poll();
        if (next != null) {
            next.left();
            left(next);
            dropLeftovers();
        }
        return next;
    }

    /**
     * Removes a message from the middle, which was released. Its object remains until it is the first, or until such
     * objects are more than half of the queue.
     */
    public void forget(QueuedMessage ended) {
        left(ended);
        ended.end();
        if (waiting.size() > 2 * messages.get() + FEW) {
            waiting.removeIf(queued -> !queued.isThere());
        }
        dropLeftovers();
    }

    private void left(QueuedMessage queued) {
        messages.add(-1);
        bytes.add(-queued.bytes());
        if (memory != null) {
            memory.queued(-queued.memory());
        }
    }

    /** Returns the queued requests. */
    public List<Outgoing> requests() {
        List<Outgoing> requests = new ArrayList<>();
        for (QueuedMessage queued : waiting) {
            Outgoing request = queued.request();
            if (request != null) {
                requests.add(request);
            }
        }
        return requests;
    }

    /** Removes leftovers until the first object has a message, and notes the time when that message was queued. */
    private void dropLeftovers() {
        QueuedMessage next = waiting.peek();
        while (next != null && !next.isThere()) {
            waiting.remove();
            next = waiting.peek();
        }
        if (next != null) {
            oldestSince.set(next.since());
        }
    }

    /** Updates whether the peer is slow. Returns whether it has become slow. */
    boolean becameSlow() {
        boolean was = slow;
        boolean now = isAbove(was ? 4 : 2) || isMuch();
        if (now != was) {
            slow = now;
        }
        return now && !was;
    }

    /** Returns whether the peer was slow when that was last updated. */
    boolean isSlow() {
        return slow;
    }

    /** Returns whether memory is short for the peer, and it was not noticed that it is slow. From any thread. */
    boolean isSlowUnnoticed() {
        return !slow && isMuch();
    }

    private boolean isAbove(int part) {
        return messages.get() * part >= limit.messages() || bytes.get() * part >= limit.bytes();
    }

    public void limit(QueueLimit limit) {
        this.limit = limit;
    }

    /** Returns the number of free places, which is less than zero if the limit was lowered in the meantime. */
    public long messagesLeft() {
        return limit.messages() - messages.get() - reserved.get();
    }

    public long bytesLeft() {
        return limit.bytes() - bytes.get();
    }

    /** Returns whether the oldest message has waited for longer than this, in nanoseconds. */
    public boolean isOlderThan(long age, long now) {
        return !isEmpty() && now - oldestSince.get() > age;
    }

    /** Returns how long the oldest message has waited. */
    public Duration oldestAge(long now) {
        return messages() == 0 ? Duration.ZERO : Duration.ofNanos(now - oldestSince.get());
    }

    public long messages() {
        return messages.get();
    }

    public long bytes() {
        return bytes.get();
    }
}
