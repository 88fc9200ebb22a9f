package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.socket.context.Count;
import dev.zmtp.internal.socket.context.SocketContext;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a socket keeps for one peer: messages that wait to be sent or to be received, and requests that a
 * handler has not answered. It is counted in the budget of the peer's connection, also when that has ended, and in
 * steps: an account that others read is not for each message.
 */
public final class PeerMemory implements MemoryAccount.Owner {

    /** What is not counted yet: some messages, and less than a connection itself takes. */
    private static final long STEP = 1 << 10;

    /** What is counted and no longer kept. */
    private static final long KEPT = 4 << 10;

    /** A peer may always keep so much, or nothing would move while others have taken all. */
    private static final long FLOOR = 64 << 10;

    private final SocketContext context;
    private final boolean accepted;
    private final Consumer<ZMTPException> end;

    /**
     * Messages to be received, how much of that is counted, and how much was taken since. Guarded by the lock of the
     * {@code Inbox}.
     */
    private long inbound;

    private long inboundCounted;
    private long taken;

    /** Messages to be sent. */
    private final Count queued = new Count();

    /** How much of that is counted, and how much was sent since. On the event loop. */
    private long queuedCounted;

    private long sent;

    /** Requests that a handler has, and how much of that is counted. On the event loop. */
    private long served;

    private long servedCounted;

    private volatile @Nullable MemoryAccount account;
    private volatile @Nullable ZMTPSession session;
    private volatile boolean connected;

    /**
     * @param accepted whether the peer has come by itself
     * @param end called on the event loop if the peer is the one that has to give its memory back
     */
    PeerMemory(SocketContext context, boolean accepted, Consumer<ZMTPException> end) {
        this.context = context;
        this.accepted = accepted;
        this.end = end;
    }

    /** Sets the connection in whose budget it is counted, and whose address is the peer's. */
    void in(@Nullable ZMTPSession session) {
        this.session = session;
    }

    @Override
    public MemoryLedger ledger() {
        return session instanceof MemoryAccount.Owner owner ? owner.ledger() : MemoryLedger.shared();
    }

    /** Sets whether the peer is there. */
    void connected(boolean now) {
        connected = now;
        countQueued();
        served(0);
    }

    /** The address from which no more is wanted if this peer has kept too much; null if the peer has gone. */
    @Override
    public @Nullable SocketAddress peerAddress() {
        ZMTPSession its = session;
        return its == null || !connected ? null : its.peerAddress();
    }

    /** Counts what waits to be received: {@code bytes} more, or less. Under the lock of the {@code Inbox}. */
    public void inbound(long bytes) {
        inbound += bytes;
        taken += Math.max(0, -bytes);
        if (isWorthCounting(inbound, inboundCounted)) {
            account().add(inbound - inboundCounted, taken);
            inboundCounted = inbound;
            taken = 0;
        }
    }

    /** Counts what waits to be sent: {@code bytes} more, or less. On the event loop. */
    void queued(long bytes) {
        queued.add(bytes);
        countQueued();
    }

    private void countQueued() {
        long now = queued.get();
        if (isWorthCounting(now, queuedCounted)) {
            account().add(now - queuedCounted, sent);
            queuedCounted = now;
            sent = 0;
        }
    }

    /** Notes that the peer was sent {@code bytes} of what has waited, and was not just spared them. */
    void moved(long bytes) {
        sent += bytes;
    }

    /**
     * Counts a request that a handler has: {@code bytes} more, or less. They are in the budget and in no account, as
     * ending the connection would not give them back. On the event loop.
     */
    public void served(long bytes) {
        served += bytes;
        if (isWorthCounting(served, servedCounted)) {
            ledger().add(served - servedCounted);
            servedCounted = served;
        }
    }

    /** For a peer that is there, some of what was counted stays so: messages that come and go would all count. */
    private boolean isWorthCounting(long now, long counted) {
        return now - counted > STEP || counted - now > (now == 0 && !connected ? 0 : KEPT);
    }

    private MemoryAccount account() {
        MemoryAccount its = account;
        return its == null ? open() : its;
    }

    private synchronized MemoryAccount open() {
        MemoryAccount its = account;
        if (its == null) {
            its = new MemoryAccount(this, accepted, context.eventLoop(), end);
            account = its;
        }
        return its;
    }

    /** Whether the peer has as many messages to be received as memory allows. Under the lock of the {@code Inbox}. */
    public boolean hasMuchToReceive() {
        return isMuch(inbound);
    }

    /** Whether as many messages wait to be sent to the peer as memory allows. From any thread. */
    boolean hasMuchToSend() {
        return isMuch(queued.get());
    }

    /** Whether a handler has as many requests of the peer as memory allows. On the event loop. */
    boolean hasMuchServed() {
        return isMuch(served);
    }

    /**
     * A peer may keep half of what is left. So one takes no more than a third of the budget, two take a quarter each,
     * and so on: only very many that keep little can exceed it.
     */
    private boolean isMuch(long bytes) {
        return bytes > FLOOR && bytes > ledger().free() / 2;
    }

    /** Called when all messages to be received are released. As {@link #inbound}. */
    public void inboundClosed() {
        inbound(-inbound);
    }

    /**
     * Called when all messages of the peer are dropped. What is kept from now on is in a new account if this one was
     * ended. On the event loop, under the lock of the {@code Inbox}.
     */
    public void dropped() {
        MemoryAccount its = account;
        if (its != null && its.hasEnded()) {
            account = null;
            inboundCounted = 0;
            queuedCounted = 0;
            inbound(0);
            countQueued();
        }
    }
}
