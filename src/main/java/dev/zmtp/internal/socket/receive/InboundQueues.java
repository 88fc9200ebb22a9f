package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DISCARDED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.SocketValues;
import dev.zmtp.internal.socket.peer.Inbound;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPSocketConfig.ReceiveOverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import io.netty.util.ReferenceCountUtil;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The messages waiting to be received, in a queue for each peer. Guarded by the lock of the {@code Inbox}. */
final class InboundQueues {

    private final SocketContext context;
    private final QueueLimit limit;
    private final boolean keepsLatest;
    private final Line line = new Line();

    /** Changed under the lock, read without it. */
    private volatile boolean closed;

    InboundQueues(SocketContext context) {
        this.context = context;
        this.limit = SocketValues.limitOfReceives(context.config());
        this.keepsLatest = context.config().receiveOverflowPolicy() == ReceiveOverflowPolicy.KEEP_LATEST;
    }

    /** Peers with queued messages. */
    Line line() {
        return line;
    }

    /** Returns whether no more messages are kept. From any thread. */
    boolean isClosed() {
        return closed;
    }

    /**
     * Queues the message. Returns a message that is not kept, which the caller passes to {@link #discard}: this message
     * if the queues are closed, or the older of two messages if only the newest is kept; null if all are kept.
     */
    @Nullable
    ZMTPMessage add(Peer from, ZMTPMessage message, boolean atFront) {
        Inbound its = from.inbound();
        boolean isFirst = its.messages.isEmpty();
        if (closed || (keepsLatest && atFront && !isFirst)) { // a message that was put back is the older one
            return message;
        }
        ZMTPMessage older = keepsLatest ? poll(from) : null; // first, so that the budget never counts both
        if (atFront) {
            its.messages.addFirst(message);
        } else {
            its.messages.add(message);
        }
        if (isFirst) {
            giveTurn(from, atFront);
        }
        long bytes = message.readableBytes();
        its.bytes += bytes;
        from.memory().inbound(MessageMemory.of(message, bytes));
        its.full |= !keepsLatest && hasReachedLimit(from);
        return older;
    }

    /** Gives a turn to a peer with its first message. If there is no memory for the turn, the message is not kept. */
    private void giveTurn(Peer from, boolean next) {
        try {
            if (next) {
                line.addFirst(from);
            } else {
                line.add(from);
            }
        } catch (Throwable e) {
            from.inbound().messages.clear();
            throw e;
        }
    }

    private boolean hasReachedLimit(Peer from) {
        Inbound its = from.inbound();
        return its.messages.size() >= limit.messages()
                || its.bytes >= limit.bytes()
                || from.memory().hasMuchToReceive();
    }

    /**
     * Queues a message that was taken and is not needed, as the next. Returns what {@link #add} would return, which is
     * this message if there is another peer at the endpoint.
     */
    @Nullable
    ZMTPMessage putBack(Peer from, int occupant, ZMTPMessage message) {
        return occupant == from.occupant() ? add(from, message, true) : message;
    }

    /**
     * Releases a message that was not kept, and reports it unless this is closed. Without the lock, because a buffer
     * of the application and an event listener can wait for a thread that receives. From any thread.
     */
    void discard(Peer from, @Nullable ZMTPMessage unkept) {
        if (unkept == null) {
            return;
        }
        ReferenceCountUtil.safeRelease(unkept);
        if (closed) {
            return;
        }
        if (context.inEventLoop()) {
            outdated(from);
        } else {
            context.execute(() -> outdated(from));
        }
    }

    private void outdated(Peer from) {
        from.counters().add(DISCARDED, 1);
        context.drops().dropped(from, DropReason.OUTDATED, 1);
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
            try {
                context.execute(from::reading);
            } catch (Throwable e) { // there is no memory for the task, which must not lose the message
                its.full = true; // so the next one tries again
            }
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
        Deque<ZMTPMessage> removed = new ConsistentDeque<>();
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

    /** Called when the connection of the peer has ended. Its messages can still be taken. */
    void down(Peer from) {
        from.memory().inboundLeft();
        if (from.home() != null && context.filtersTopics()) { // what is on its way is not for the next peer
            from.inbound().replaced();
        }
    }

    /** Removes all messages of the peer. Those that others have taken are not put back, and get no answer. */
    Deque<ZMTPMessage> removeAll(Peer from) {
        Deque<ZMTPMessage> removed = new ConsistentDeque<>();
        for (ZMTPMessage next = next(from); next != null; next = next(from)) {
            removed.add(next);
        }
        line.remove(from);
        from.memory().dropped();
        from.inbound().replaced();
        return removed;
    }

    /** Removes and returns all messages. No more messages are kept. */
    Deque<ZMTPMessage> close() {
        closed = true;
        Deque<ZMTPMessage> removed = new ConsistentDeque<>();
        line.allBack();
        for (Peer from = line.poll(); from != null; from = line.poll()) {
            removed.addAll(from.inbound().messages);
            from.inbound().messages.clear();
            from.memory().inboundClosed();
        }
        return removed;
    }
}
