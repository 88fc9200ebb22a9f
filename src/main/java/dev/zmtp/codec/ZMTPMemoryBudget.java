package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.memory.MemoryLedger;

/**
 * A bound on the memory that many connections keep for their peers together.
 *
 * <p>The limits of a {@link ZMTPConfig} bound what one connection keeps; a budget bounds the sum. It counts what a peer
 * can make this side keep: the part of a frame that has arrived, the frames of an unfinished message, what was read and
 * waits for its turn, the commands of a handshake, topics, metadata, held writes, and what was written and has not been
 * sent. Overheads are included. A {@link dev.zmtp.socket.ZMTPSocket} counts what it keeps for its peers, too: messages
 * to be sent and to be received, also after the peer has gone, and requests that a handler has. Other messages that
 * were fired are the application's, and do not count. What each connection takes whatever its peer sends does not count
 * either: bound that with a {@link ZMTPConnectionLimiter}. Nor does what a handler before the codec holds back, as a
 * traffic shaper does: to the codec it is sent.
 *
 * <p>When the sum exceeds the limit, connections are ended with {@link ZMTPException.Code#MEMORY_BUDGET} until there
 * is room again. Connections that hold much memory but have moved few bytes, and none recently, go first: strangers
 * with unfinished messages, and subscribers that do not read. A peer that sends whole messages and reads what it gets
 * keeps next to nothing, and is not chosen. Nor is any other connection that keeps at most 4 KiB, or its even share of
 * a quarter of the limit if that is less. A connection ends when its event loop has done its current task: a task
 * that writes to very many channels can exceed the limit until then.
 *
 * <p>A peer whose connection was ended is likely to return at once. With a {@link ZMTPLimiter} in the pipeline, new
 * connections with its address are not read for a while.
 *
 * <p>All connections share one budget unless their config names another. Thread safe.
 */
public final class ZMTPMemoryBudget {

    private static final ZMTPMemoryBudget SHARED = new ZMTPMemoryBudget(MemoryLedger.shared());

    private final MemoryLedger ledger;

    private ZMTPMemoryBudget(MemoryLedger ledger) {
        this.ledger = ledger;
    }

    /**
     * The budget of all connections whose config names no other. Its limit is a quarter of the heap or of Netty's
     * direct memory, whichever is smaller.
     */
    public static ZMTPMemoryBudget shared() {
        return SHARED;
    }

    /**
     * Returns a new budget of this many bytes, at least 1. {@code Long.MAX_VALUE} is a budget that is never exceeded.
     *
     * @throws IllegalArgumentException if it is less
     */
    public static ZMTPMemoryBudget of(long limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
        }
        return new ZMTPMemoryBudget(new MemoryLedger(limit));
    }

    /** The most bytes that all connections keep together. */
    public long limit() {
        return ledger.limit();
    }

    /** The bytes that all connections keep now. */
    public long used() {
        return ledger.used();
    }

    /** How many connections were ended to make room. */
    public long endedConnections() {
        return ledger.endedConnections();
    }

    /** What the connections count in. */
    MemoryLedger ledger() {
        return ledger;
    }

    @Override
    public String toString() {
        return "ZMTPMemoryBudget{used=" + used() + ", limit=" + limit() + "}";
    }
}
