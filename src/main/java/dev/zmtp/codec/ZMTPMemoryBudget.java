package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.memory.MemoryLedger;

/**
 * Bound on the memory that many connections together keep for their peers.
 *
 * <p>The limits of a {@link ZMTPConfig} bound the memory of one connection, while a budget bounds the sum. It counts
 * the memory that a peer can make this side keep. This includes the received part of a frame, the frames of an
 * unfinished message, received bytes that are not decoded yet, handshake commands, topics, metadata, held writes, and
 * unsent writes, all with their overheads. A {@link dev.zmtp.socket.ZMTPSocket} also counts the memory that it keeps
 * for its peers, even after a peer has left. This memory consists of messages to be sent, messages to be received, and
 * requests that a handler is processing.
 *
 * <p>Other messages that the codec has fired belong to the application and do not count. The fixed cost of a
 * connection, which does not depend on its peer, does not count either; bound it with a {@link ZMTPConnectionLimiter}.
 * Bytes held back by an earlier handler, such as a traffic shaper, do not count because the codec considers them sent.
 * A message that several channels have and not sent yet counts for each of them, although they share its bytes.
 *
 * <p>When the sum exceeds the limit, connections are ended with {@link ZMTPException.Code#MEMORY_BUDGET} until the sum
 * is within the limit again. Connections that keep much memory but have moved few bytes, and none recently, are ended
 * first. Typical examples are strangers with unfinished messages and subscribers that do not read. A peer that sends
 * whole messages and reads the messages that it receives keeps almost no memory and is not chosen. Any other connection
 * is spared if it keeps at most 4 KiB, or its even share of a quarter of the limit if that is less. A connection ends
 * when its event loop has completed its current task, so a task that writes to very many channels can exceed the limit
 * until it is complete.
 *
 * <p>A peer whose connection was ended is likely to return at once. With a {@link ZMTPLimiter} in the pipeline, new
 * connections with its address are not read for a while.
 *
 * <p>All connections share one budget unless their config sets another. Thread safe.
 */
public final class ZMTPMemoryBudget {

    private static final ZMTPMemoryBudget SHARED = new ZMTPMemoryBudget(MemoryLedger.shared());

    private final MemoryLedger ledger;

    private ZMTPMemoryBudget(MemoryLedger ledger) {
        this.ledger = ledger;
    }

    /**
     * Returns the budget of all connections whose config sets no other budget. Its limit is a quarter of the heap or of
     * Netty's direct memory, whichever is smaller.
     */
    public static ZMTPMemoryBudget shared() {
        return SHARED;
    }

    /**
     * Returns a new budget of this many bytes, at least 1. A budget of {@code Long.MAX_VALUE} is never exceeded.
     *
     * @throws IllegalArgumentException if the limit is less than 1
     */
    public static ZMTPMemoryBudget of(long limit) {
        if (limit < 1) {
            throw new IllegalArgumentException("limit: " + limit + " (expected: >= 1)");
        }
        return new ZMTPMemoryBudget(new MemoryLedger(limit));
    }

    /** Returns the maximum number of bytes that all connections keep together. */
    public long limit() {
        return ledger.limit();
    }

    /** Returns the number of bytes that all connections currently keep. */
    public long used() {
        return ledger.used();
    }

    /** Returns the number of connections that were ended to free memory. */
    public long endedConnections() {
        return ledger.endedConnections();
    }

    /** Returns the ledger in which connections account for their memory. */
    MemoryLedger ledger() {
        return ledger;
    }

    @Override
    public String toString() {
        return "ZMTPMemoryBudget{used=" + used() + ", limit=" + limit() + "}";
    }
}
