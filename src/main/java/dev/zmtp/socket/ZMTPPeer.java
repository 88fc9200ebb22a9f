package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The other end of a connection, with the queue of the messages that wait for it.
 *
 * <p>A peer that connects to this socket exists as long as its connection, and so does its queue. A peer that this
 * socket connects to exists from {@link ZMTPSocket#connect} until its {@link ZMTPConnector} is closed. What is queued
 * while it is away is sent when it is back (RFC 28 to 31).
 *
 * <p>All methods may be called from any thread. The numbers may be slightly out of date.
 */
public final class ZMTPPeer {

    private final SocketCore core;
    private final @Nullable ZMTPConnector connector;
    private final SendQueue queue;
    private final PeerCounters counters = new PeerCounters();
    final Inbound inbound = new Inbound();

    /** The number of requests that wait for an answer of this peer. Used on the event loop. */
    int asked;

    private volatile PeerInfo info = PeerInfo.UNKNOWN;
    private volatile @Nullable PeerHandler link;

    /** Where it was accepted: the events of its end say so, too. */
    private volatile String acceptedAt = "closed";

    /** Its name in this socket: the identity, or one that was made here. Empty until it is known. */
    private volatile byte[] name = {};

    /** Whether the room in its queue is part of the credit of the socket. */
    private boolean eligible;

    /** Whether the peer is not read from because it has not read the answers to what it asked. */
    private boolean answersWait;

    private final Noted noted = new Noted();

    ZMTPPeer(SocketCore core, @Nullable ZMTPConnector connector) {
        this.core = core;
        this.connector = connector;
        this.queue = new SendQueue(core.config().sendLimit());
    }

    // What it is

    /**
     * The identity that the peer has announced, read-only; empty if it has announced none. A ROUTER then makes a
     * {@link #name}.
     */
    public ByteBuffer identity() {
        return info.identity().duplicate();
    }

    /**
     * The name by which a ROUTER, SERVER or PEER finds this peer, read-only: its identity, or a name that the socket
     * has made. Empty with other types.
     */
    public ByteBuffer name() {
        return ByteBuffer.wrap(name).asReadOnlyBuffer();
    }

    /** The type of the peer's socket; null before the first handshake, and in ZMTP 1.0, which does not announce it. */
    public @Nullable ZMTPSocketType type() {
        return info.type();
    }

    /** The user id that the authenticator has given the peer; null if there is none. */
    public @Nullable String userId() {
        return info.userId();
    }

    /** The peer's address; null before the first handshake. */
    public @Nullable SocketAddress address() {
        return info.address();
    }

    /** The endpoint that the socket is connected or bound to, such as {@code tcp://127.0.0.1:5555}. */
    public String endpoint() {
        return connector != null ? connector.endpoint() : acceptedAt;
    }

    /** Whether it is connected and its handshake has succeeded. */
    public boolean isUp() {
        return link != null;
    }

    // How it is doing

    /** The number of messages that wait in the queue for this peer. */
    public long queuedMessages() {
        return queue.messages();
    }

    /** The bytes of the messages that wait in the queue for this peer. */
    public long queuedBytes() {
        return queue.bytes();
    }

    /** The number of messages for this peer that the transport has taken. They may still be lost on their way. */
    public long written() {
        return counters.written.get();
    }

    /** The number of messages for this peer that were dropped here. */
    public long dropped() {
        return counters.dropped.get();
    }

    /** The number of messages that the transport had when a connection ended. They may or may not have arrived. */
    public long unknown() {
        return counters.unknown.get();
    }

    /** The number of messages that were received from this peer. */
    public long received() {
        return counters.received.get();
    }

    /** The number of messages from this peer that were dropped because the pattern does not allow them. */
    public long malformed() {
        return counters.malformed.get();
    }

    /** The number of answers from this peer that came when they were no longer awaited. */
    public long late() {
        return counters.late.get();
    }

    /** Stops reading from this peer until {@link #resume}. What has already arrived is delivered. */
    public void pause() {
        core.execute(() -> {
            inbound.pausedByUser = true;
            reading();
        });
    }

    /** Continues to read from this peer. */
    public void resume() {
        core.execute(() -> {
            inbound.pausedByUser = false;
            reading();
        });
    }

    /** Closes the present connection. If this socket has made it, it connects again. */
    public void disconnect() {
        core.execute(this::closeNow);
    }

    /** Changes how much may wait for this peer, with immediate effect. */
    public void sendLimit(ZMTPQueueLimit limit) {
        core.execute(() -> {
            boolean was = eligible;
            eligible(false);
            queue.limit(limit);
            eligible(was);
            core.room();
        });
    }

    @Override
    public String toString() {
        SocketAddress from = connector == null ? address() : null;
        ByteBuffer shown = name.length > 0 ? name() : identity();
        return "ZMTPPeer{" + endpoint()
                + (from == null ? "" : " from " + from)
                + (shown.hasRemaining() ? ", " + PeerInfo.text(shown) : "")
                + (isUp() ? ", " + info.protocol() : ", down")
                + ", queued=" + queuedMessages() + "}";
    }

    boolean isOf(SocketCore socket) {
        return core == socket;
    }

    // On the socket's event loop

    void closeNow() {
        PeerHandler now = link;
        if (now != null) {
            now.disconnect();
        }
    }

    PeerCounters counters() {
        return counters;
    }

    SendQueue queue() {
        return queue;
    }

    /** Whether there is no connection, and none will be made. */
    boolean isForgotten() {
        return link == null && (connector == null || connector.state() == ZMTPConnector.State.STOPPED);
    }

    @Nullable
    ZMTPConnector connector() {
        return connector;
    }

    @Nullable
    PeerHandler link() {
        return link;
    }

    byte[] nameBytes() {
        return name;
    }

    void name(byte[] name) {
        this.name = name;
    }

    /** Sets what the handshake has said about the peer, before messages may be sent to it. */
    void info(PeerInfo info) {
        this.info = info;
    }

    void up(PeerHandler link) {
        this.acceptedAt = link.endpoint();
        this.link = link;
        reading();
    }

    void down() {
        link = null;
        answersWait = false;
    }

    void reading() {
        PeerHandler now = link;
        if (now != null) {
            now.reading(!inbound.pausedByUser && !inbound.full && !answersWait);
        }
    }

    /** A peer whose answers have no room must not ask for more. */
    void readIfThereIsRoom() {
        if (answersWait == queue.hasRoom()) {
            answersWait = !answersWait;
            reading();
        }
    }

    /** The messages of this turn that wait for it in the {@link Gathering}. */
    Noted noted() {
        return noted;
    }

    void sendNoted() {
        if (!noted.isEmpty()) {
            core.routing().sendNoted(this);
        }
    }

    /** Whether a message would be taken without dropping one. */
    boolean canTake() {
        if (!noted.isEmpty()) {
            return queue.messagesLeft() > noted.count();
        }
        PeerHandler now = link;
        return (now != null && queue.isEmpty() && now.isWritable()) || queue.hasRoom();
    }

    /** Sends or queues a message that was already accepted, even beyond the limit. */
    void sendAccepted(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        PeerHandler now = link;
        if (now != null && queue.isEmpty() && now.isWritable()) {
            now.write(message, result);
            return;
        }
        if (eligible) {
            core.senders().credit().give(-1, -message.readableBytes());
        }
        enqueue(message, result);
    }

    Fate send(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        sendNoted();
        return sendNow(message, result);
    }

    /** Sends a message whose turn it is, even beyond the limit. */
    void sendInTurn(ZMTPMessage message) {
        if (sendNow(message, null) == Fate.REFUSED) {
            enqueue(message, null);
        }
    }

    private Fate sendNow(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        PeerHandler now = link;
        if (now != null && queue.isEmpty() && now.isWritable()) {
            now.write(message, result);
            return Fate.PASSED;
        }
        if (queue.hasRoom()) {
            return enqueue(message, result);
        }
        switch (core.config().slowPeer()) {
            case WAIT -> {
                return Fate.REFUSED;
            }
            case DROP_NEW, DISCONNECT -> {
                drop(new QueuedMessage(message, result, 0), DropReason.FULL, "the queue is full");
                return Fate.DROPPED;
            }
            case DROP_OLD, KEEP_LATEST -> {
                while (!queue.hasRoom()) {
                    drop(queue.poll(), DropReason.REPLACED, "a newer message took its place");
                }
                return enqueue(message, result);
            }
        }
        throw new AssertionError(core.config().slowPeer());
    }

    private Fate enqueue(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        queue.add(message, result, core.nanoTime());
        if (queue.becameSlow()) {
            core.events()
                    .fire(new ZMTPSocketEvent.SlowPeer(
                            this, queue.messages(), queue.bytes(), oldest(), counters.dropped.get()));
            core.slowPeers().watch(this);
        }
        return Fate.QUEUED;
    }

    private void drop(@Nullable QueuedMessage message, DropReason reason, String text) {
        if (message != null) {
            counters.dropped.add(1);
            core.slowPeers().dropped(this, reason);
            String why = "message for " + endpoint() + ": " + text;
            core.requests().dropped(message.message(), why);
            message.fail(ZMTPSocketException.Reason.DROPPED, why);
        }
    }

    /** Returns how long the oldest message has waited. */
    Duration oldest() {
        QueuedMessage first = queue.peek();
        return first == null ? Duration.ZERO : Duration.ofNanos(core.nanoTime() - first.since);
    }

    /** Writes what waits, as long as the transport takes it. */
    void drain() {
        PeerHandler now = link;
        if (now == null || queue.isEmpty()) {
            return;
        }
        long maxAge = core.config().maxAgeNanos();
        long time = maxAge == Long.MAX_VALUE ? 0 : core.nanoTime();
        long messages = 0;
        long bytes = 0;
        while (now.isWritable()) {
            QueuedMessage next = queue.poll();
            if (next == null) {
                break;
            }
            messages++;
            bytes += next.bytes;
            if (maxAge != Long.MAX_VALUE && time - next.since > maxAge) {
                drop(
                        next,
                        DropReason.EXPIRED,
                        "it has waited for longer than " + core.config().maxAge());
            } else {
                ZMTPMessage message = next.message();
                CompletableFuture<Void> result = next.result;
                queue.giveBack(next);
                now.write(message, result);
            }
        }
        if (messages > 0) {
            queue.becameSlow(); // or is no longer slow
            if (answersWait) {
                readIfThereIsRoom();
            }
            gaveRoom(messages, bytes);
            if (connector != null) {
                connector.drained(); // perhaps the last one was dropped, and not written
            }
        }
    }

    /** Fails what waits, as the peer will not come back. */
    long failQueue(ZMTPSocketException.Reason reason, String text) {
        eligible(false);
        long failed = 0;
        for (QueuedMessage next = queue.poll(); next != null; next = queue.poll()) {
            counters.dropped.add(1);
            failed++;
            next.fail(reason, text);
        }
        return failed;
    }

    private void gaveRoom(long messages, long bytes) {
        if (eligible) {
            core.senders().credit().give(messages, bytes);
        }
        core.room();
    }

    /**
     * Sets whether new messages may be queued here. If so, the room in the queue belongs to the credit of the socket.
     */
    void eligible(boolean now) {
        if (eligible != now) {
            eligible = now;
            int sign = now ? 1 : -1;
            core.senders().credit().give(sign * queue.messagesLeft(), sign * queue.bytesLeft());
        }
    }

    /** Why its connector waits, if it does. */
    @Nullable
    Throwable lastFailure() {
        return connector == null ? null : connector.lastFailure();
    }

    /** Whether messages wait for it while it is away. */
    boolean mayBeQueuedFor() {
        return connector != null && core.config().queueWhileDown();
    }

    /** Whether its connector is closed, or will be as soon as its queue is empty. */
    boolean isLeaving() {
        return connector != null && connector.isClosing();
    }
}
