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

    /** A peer may always keep so much, or nothing would move while others have taken all. */
    private static final long FLOOR = 64 << 10;

    private final SocketContext context;
    private final boolean accepted;
    private final Consumer<ZMTPException> end;

    /** Messages to be received, and how much of that is counted. Guarded by the lock of the {@code Inbox}. */
    private long inbound;

    private long inboundCounted;

    /** Messages to be sent. */
    private final Count queued = new Count();

    /** Requests that a handler has. On the event loop. */
    private long served;

    /** How much of the two is counted. On the event loop. */
    private long outboundCounted;

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
        if (isWorthCounting(inbound, inboundCounted)) {
            add(inbound - inboundCounted);
            inboundCounted = inbound;
        }
    }

    /** Counts what waits to be sent: {@code bytes} more, or less. On the event loop. */
    void queued(long bytes) {
        queued.add(bytes);
        countOutbound();
    }

    /** Counts a request that a handler has: {@code bytes} more, or less. On the event loop. */
    public void served(long bytes) {
        served += bytes;
        countOutbound();
    }

    private void countOutbound() {
        long outbound = queued.get() + served;
        if (isWorthCounting(outbound, outboundCounted)) {
            add(outbound - outboundCounted);
            outboundCounted = outbound;
        }
    }

    private static boolean isWorthCounting(long now, long counted) {
        return now == 0 ? counted > 0 : now - counted > STEP || counted - now > STEP;
    }

    private void add(long bytes) {
        MemoryAccount its = account;
        if (its == null) {
            its = open();
        }
        its.add(bytes);
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
     * and however many they are, they stop before it is exceeded.
     */
    private boolean isMuch(long bytes) {
        return bytes > FLOOR && bytes > ledger().free() / 2;
    }

    /** Called when all messages to be received are released. As {@link #inbound}. */
    public void inboundClosed() {
        inbound(-inbound);
    }

    /** Called when the account was ended, and all messages to be received are dropped. As {@link #inbound}. */
    public void inboundDropped() {
        inbound = 0;
        inboundCounted = 0;
    }

    /** Called when the account was ended, after {@link #inboundDropped}. What is kept then is in a new account. */
    void reopen() {
        account = null;
        outboundCounted = 0;
    }
}
