package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.peer.Inbound;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The messages waiting to be received, in a queue for each peer. Guarded by the lock of the {@code Inbox}. */
final class InboundQueues {

    private final SocketContext context;
    private final QueueLimit limit;
    private final Line line = new Line();

    /** Takes the messages that newer messages replace; null if a full queue stops reading instead. */
    private final @Nullable Outdated outdated;

    /** @param lock the lock of the {@code Inbox} */
    InboundQueues(SocketContext context, ReentrantLock lock) {
        this.context = context;
        boolean keepsLatest = context.config().receiveOverflowPolicy() == ReceiveOverflowPolicy.KEEP_LATEST;
        this.outdated = keepsLatest ? new Outdated(context, lock) : null;
        this.limit = SocketValues.limitOfReceives(context.config());
    }

    /** Peers with queued messages. */
    Line line() {
        return line;
    }

    /** Takes ownership of the message. */
    void add(Peer from, ZMTPMessage message, boolean atFront) {
        Inbound its = from.inbound();
        if (atFront) {
            if (its.messages.isEmpty()) {
                line.addFirst(from);
            }
            its.messages.addFirst(message);
        } else {
            if (its.messages.isEmpty()) {
                line.add(from);
            }
            its.messages.add(message);
        }
        long bytes = message.readableBytes();
        its.bytes += bytes;
        from.memory().inbound(MessageMemory.of(message, bytes));
        if (its.messages.size() >= limit.messages()
                || its.bytes >= limit.bytes()
                || from.memory().hasMuchToReceive()) {
            limitReached(from, its);
        }
    }

    private void limitReached(Peer from, Inbound its) {
        if (outdated == null) {
            its.full = true;
            return;
        }
        // The first message is the older one, even if it was put back after the second had arrived.
        ZMTPMessage older = its.messages.size() > 1 ? poll(from) : null;
        if (older != null) {
            outdated.add(from, older);
        }
    }

    /** Removes and returns the oldest message, and leaves the order of turns unchanged; null if there is none. */
    private @Nullable ZMTPMessage poll(Peer from) {
        Inbound its = from.inbound();
        ZMTPMessage message = its.messages.poll();
        if (message != null) {
            long bytes = message.readableBytes();
            its.bytes -= bytes;
            from.memory().inbound(-MessageMemory.of(message, bytes));
        }
        return message;
    }

    /** Removes and returns the next message of the peer, whose turn was taken; null if there is none. */
    @Nullable
    ZMTPMessage next(Peer from) {
        ZMTPMessage message = poll(from);
        if (message == null) {
            return null;
        }
        Inbound its = from.inbound();
        if (!its.messages.isEmpty()) {
            line.add(from);
        }
        if (its.full && hasRoomAgain(from)) {
            its.full = false;
            context.execute(from::reading);
        }
        return message;
    }

    /** Returns whether half of the messages that the peer can have were taken, or all of them if memory is short. */
    private boolean hasRoomAgain(Peer from) {
        Inbound its = from.inbound();
        return its.messages.size() <= limit.messages() / 2
                && its.bytes <= limit.bytes() / 2
                && (its.messages.isEmpty() || !from.memory().hasMuchToReceive());
    }

    /** Removes the oldest messages of a peer that has reached its limit, until it can have more. */
    Deque<ZMTPMessage> removeOldest(Peer from) {
        Deque<ZMTPMessage> removed = new ArrayDeque<>(0);
        Inbound its = from.inbound();
        while (its.full) {
            ZMTPMessage oldest = poll(from);
            if (oldest != null) {
                removed.add(oldest);
            }
            its.full = !hasRoomAgain(from);
        }
        if (its.messages.isEmpty()) {
            line.remove(from);
        }
        return removed;
    }

    /** Removes all messages of the peer. */
    Deque<ZMTPMessage> removeAll(Peer from) {
        Deque<ZMTPMessage> removed = new ArrayDeque<>(0);
        for (ZMTPMessage next = next(from); next != null; next = next(from)) {
            removed.add(next);
        }
        line.remove(from);
        from.memory().dropped();
        return removed;
    }

    /** Releases all messages. */
    void close() {
        line.allBack();
        for (Peer from = line.poll(); from != null; from = line.poll()) {
            from.inbound().messages.forEach(ReferenceCountUtil::safeRelease);
            from.inbound().messages.clear();
            from.memory().inboundClosed();
        }
    }
}
