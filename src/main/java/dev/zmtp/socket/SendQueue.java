package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
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
    private volatile ZMTPQueueLimit limit;
    private boolean slow;

    SendQueue(ZMTPQueueLimit limit) {
        this.limit = limit;
    }

    boolean hasRoom() {
        return messages.get() < limit.messages() && bytes.get() < limit.bytes();
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
        }
        return message;
    }

    @Nullable
    QueuedMessage peek() {
        return waiting.peek();
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
        return limit.messages() - messages.get();
    }

    long bytesLeft() {
        return limit.bytes() - bytes.get();
    }

    long messages() {
        return messages.get();
    }

    long bytes() {
        return bytes.get();
    }
}
