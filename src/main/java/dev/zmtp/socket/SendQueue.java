package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The messages that wait for one peer. Used on the socket's event loop. Its numbers may be read from any thread.
 *
 * <p>It counts as slow from half full until it is less than a quarter full.
 */
final class SendQueue {

    /** How many objects a queue keeps for its next messages, so that one that fills and empties allocates none. */
    private static final int MAX_SPARES = 1_024;

    private final Queue<QueuedMessage> waiting = new ArrayDeque<>(0);
    private final Deque<QueuedMessage> spares = new ArrayDeque<>(0);
    private final Count messages = new Count();
    private final Count bytes = new Count();

    /** When the first of those that wait was added. */
    private final Count oldestSince = new Count();

    /** Messages that other threads have a place for, and that have not come here yet. */
    private final AtomicInteger reserved = new AtomicInteger();

    private volatile ZMTPQueueLimit limit;
    private boolean slow;

    SendQueue(ZMTPQueueLimit limit) {
        this.limit = limit;
    }

    boolean hasRoom() {
        return messagesLeft() > 0 && bytes.get() < limit.bytes();
    }

    /** Reserves a place for a message if there is room. From any thread. */
    boolean reserve() {
        reserved.incrementAndGet();
        if (messagesLeft() >= 0 && bytes.get() < limit.bytes()) {
            return true;
        }
        reserved.decrementAndGet();
        return false;
    }

    /** Called before the message is added that the place was for, and if it is not. */
    void unreserve() {
        reserved.decrementAndGet();
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    void add(ZMTPMessage message, @Nullable CompletableFuture<Void> result, long since) {
        QueuedMessage queued = spares.poll();
        if (queued == null) {
            queued = new QueuedMessage(message, result, since);
        } else {
            queued.set(message, result, since);
        }
        if (waiting.isEmpty()) {
            oldestSince.set(since);
        }
        waiting.add(queued);
        messages.add(1);
        bytes.add(queued.bytes);
    }

    /** Called when the message has left, so that its object may hold another. */
    void giveBack(QueuedMessage queued) {
        queued.clear();
        if (spares.size() < MAX_SPARES) {
            spares.push(queued);
        }
    }

    @Nullable
    QueuedMessage poll() {
        QueuedMessage message = waiting.poll();
        if (message != null) {
            messages.add(-1);
            bytes.add(-message.bytes);
            QueuedMessage next = waiting.peek();
            if (next != null) {
                oldestSince.set(next.since);
            }
        }
        return message;
    }

    Iterable<QueuedMessage> all() {
        return waiting;
    }

    /** Updates whether the peer is slow. Returns whether it has become slow with this message. */
    boolean becameSlow() {
        boolean was = slow;
        slow = was ? isAbove(4) : isAbove(2);
        return slow && !was;
    }

    private boolean isAbove(int part) {
        return messages.get() * part >= limit.messages() || bytes.get() * part >= limit.bytes();
    }

    void limit(ZMTPQueueLimit limit) {
        this.limit = limit;
    }

    /** Less than zero if the limit was lowered in the meantime. */
    long messagesLeft() {
        return limit.messages() - messages.get() - reserved.get();
    }

    long bytesLeft() {
        return limit.bytes() - bytes.get();
    }

    /** Has a meaning while messages wait. */
    long oldestSince() {
        return oldestSince.get();
    }

    long messages() {
        return messages.get();
    }

    long bytes() {
        return bytes.get();
    }
}
