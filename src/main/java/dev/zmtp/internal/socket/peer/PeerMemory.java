package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.memory.MetadataMemory;
import dev.zmtp.internal.socket.context.Count;
import dev.zmtp.internal.socket.context.SocketContext;
import java.net.SocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The memory that a socket retains for a peer, which consists of messages waiting to be sent or received, of commands
 * waiting to be sent, and of requests that a handler has not answered. It is counted in the budget of the peer's
 * connection, even after the connection has ended. It is counted in steps, because updating an account that other
 * threads read is too expensive for each message.
 */
public final class PeerMemory implements MemoryAccount.Owner {

    /**
     * Maximum amount that is not counted yet, in bytes. This is some messages, and less than a connection itself takes.
     */
    private static final long STEP = 1 << 10;

    /** Maximum amount that is counted and no longer retained, in bytes. */
    private static final long KEPT = 4 << 10;

    /**
     * Amount that a peer can always retain, in bytes. Without it, all progress would stop while others have taken
     * everything.
     */
    private static final long FLOOR = 64 << 10;

    /** Amount that a peer retains which has left and whose messages have not been taken yet, besides its metadata. */
    private static final int OBJECTS = 4 << 10;

    private final SocketContext context;
    private final boolean accepted;
    private final Consumer<ZMTPException> end;

    /**
     * Bytes of messages to be received, their counted part, and the bytes taken since then. Guarded by the lock of the
     * {@code Inbox}.
     */
    private long inbound;

    private long inboundCounted;
    private long taken;

    /** Bytes of the peer itself while messages of it wait. Guarded by the lock of the {@code Inbox}. */
    private long objects;

    /** Bytes of messages to be sent. */
    private final Count queued = new Count();

    /** Bytes of commands to be sent. On the event loop. */
    private long commands;

    /** Counted part of the messages and commands to be sent, and the bytes sent since then. On the event loop. */
    private long outboundCounted;

    private long sent;

    /** Bytes of requests that are with a handler, and their counted part. On the event loop. */
    private long served;

    private long servedCounted;

    private volatile @Nullable MemoryAccount account;
    private volatile @Nullable ZMTPSession session;
    private volatile boolean connected;

    /** True after the first handshake. */
    private volatile boolean met;

    /**
     * @param accepted whether the peer has connected to this socket
     * @param end called on the event loop if the peer is chosen to free its memory
     */
    PeerMemory(SocketContext context, boolean accepted, Consumer<ZMTPException> end) {
        this.context = context;
        this.accepted = accepted;
        this.end = end;
    }

    /**
     * Sets the connection whose budget counts the memory, and whose address is the peer's. Messages queued before the
     * first connection were counted in the budget of the socket, which can be another. On the event loop.
     */
    void in(@Nullable ZMTPSession session) {
        MemoryLedger before = ledger();
        this.session = session;
        MemoryAccount its = account;
        if (!met) {
            met = true;
            if (its != null && ledger() != before) {
                its.close();
                account = null;
                outboundCounted = 0;
                countOutbound();
            }
        }
    }

    @Override
    public long nanoTime() {
        return context.nanoTime();
    }

    @Override
    public MemoryLedger ledger() {
        if (session instanceof MemoryAccount.Owner owner) {
            return owner.ledger();
        }
        return met ? MemoryLedger.shared() : context.ledger(); // a connection within the process has no budget
    }

    /** Sets whether the peer is connected. */
    void connected(boolean now) {
        connected = now;
        countOutbound();
        served(0);
    }

    /** Address from which nothing more is read if this peer has retained too much; null if the peer has left. */
    @Override
    public @Nullable SocketAddress peerAddress() {
        ZMTPSession its = session;
        return its == null || !connected ? null : its.peerAddress();
    }

    /**
     * Adds {@code bytes}, which can be negative, to the messages to be received. Under the lock of the {@code Inbox}.
     */
    public void inbound(long bytes) {
        inbound += bytes;
        taken += Math.max(0, -bytes);
        long now = inbound == 0 ? 0 : inbound + objects;
        if (isWorthCounting(now, inboundCounted)) {
            account().add(now - inboundCounted, taken);
            inboundCounted = now;
            taken = 0;
        }
    }

    /**
     * Called when the connection has ended. From now on, the messages to be received are all that retains a peer that
     * has connected to this socket, and it counts with the first of them. Like {@link #inbound}.
     */
    public void inboundLeft() {
        if (accepted) {
            objects = OBJECTS + metadata();
        }
        inbound(0);
    }

    private long metadata() {
        ZMTPSession its = session;
        ZMTPHandshake result = its == null ? null : its.handshakeFuture().getNow();
        return result == null ? 0 : MetadataMemory.of(result.metadata());
    }

    /** Adds {@code bytes}, which can be negative, to the messages to be sent. On the event loop. */
    void queued(long bytes) {
        queued.add(bytes);
        countOutbound();
    }

    /**
     * Adds {@code bytes}, which can be negative, to the commands to be sent. They take no room from messages, because
     * their number depends on the topics and not on the messages. On the event loop.
     */
    void commands(long bytes) {
        commands += bytes;
        countOutbound();
    }

    private void countOutbound() {
        long now = queued.get() + commands;
        if (isWorthCounting(now, outboundCounted)) {
            account().add(now - outboundCounted, sent);
            outboundCounted = now;
            sent = 0;
        }
    }

    /**
     * Notes that {@code bytes} of the messages or commands were sent to the peer, and not dropped. A transport notes
     * what it has {@linkplain #transferred sent} itself, except within the process.
     */
    void moved(long bytes) {
        if (session == null) {
            sent += bytes;
        }
    }

    /** Notes that the transport has sent {@code bytes} to the peer, which need not be of queued messages. */
    void transferred(long bytes) {
        sent += bytes;
        if (outboundCounted > KEPT) { // otherwise this is counted with the next message that waits
            account().add(0, sent);
            sent = 0;
        }
    }

    /**
     * Adds {@code bytes}, which can be negative, to the requests that are with a handler. They are counted in the
     * budget but in no account, because ending the connection would not free them. On the event loop.
     */
    public void served(long bytes) {
        served += bytes;
        if (isWorthCounting(served, servedCounted)) {
            ledger().add(served - servedCounted);
            servedCounted = served;
        }
    }

    /**
     * Part of the counted bytes of a connected peer stays counted. Otherwise, every message that is added and removed
     * would be counted.
     */
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

    /**
     * Returns whether the peer has as many messages to be received as memory allows. Under the lock of the
     * {@code Inbox}.
     */
    public boolean hasMuchToReceive() {
        return isMuch(inbound);
    }

    /** Returns whether as many messages wait to be sent to the peer as memory allows. From any thread. */
    boolean hasMuchToSend() {
        return isMuch(queued.get());
    }

    /** Returns whether a handler has as many requests of the peer as memory allows. On the event loop. */
    boolean hasMuchServed() {
        return isMuch(served);
    }

    /**
     * A peer can retain half of the remaining budget with each kind of message. Thus one kind of a single peer takes no
     * more than a third of the budget, those of two peers take a quarter each, and so on. Only very many peers that
     * retain little can exceed it.
     */
    private boolean isMuch(long bytes) {
        return bytes > FLOOR && bytes > ledger().free() / 2;
    }

    /** Called when all messages to be received have been released. Like {@link #inbound}. */
    public void inboundClosed() {
        inbound(-inbound);
    }

    /**
     * Called when all messages of the peer have been dropped. If the account was ended, memory is counted in a new
     * account from now on. On the event loop, under the lock of the {@code Inbox}.
     */
    public void dropped() {
        MemoryAccount its = account;
        if (its != null && its.hasEnded()) {
            account = null;
            inboundCounted = 0;
            outboundCounted = 0;
            inbound(0);
            countOutbound();
        }
    }
}
