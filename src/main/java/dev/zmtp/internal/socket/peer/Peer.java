package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.CONNECTS;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.PeerCounters;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.Usage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The peer of successive connections, with the messages that wait for it. A peer that was accepted has a single
 * connection, and ends with it.
 */
public final class Peer implements ZMTPPeer {

    private final SocketContext context;

    /** Number in the socket, by which sets of peers are ordered in the same way in each run. */
    private final int number;

    private final PeerSends sends;
    private final Usage usage;
    private final @Nullable PeerHome home;
    private final PeerMemory memory;
    private final Outbound outbound;
    private final PeerCounters counters;
    private final Inbound inbound = new Inbound();
    private final UnreadAnswers unreadAnswers;

    /** Oldest request with an id that waits for an answer from this peer. Only {@code AskedTable} changes it. */
    private @Nullable Outgoing asked;

    /** Request without an id that waits for an answer from this peer. Only {@code Requests} changes it. */
    private @Nullable Outgoing awaited;

    private volatile PeerInfo info = PeerInfo.UNKNOWN;
    private volatile @Nullable PeerHandler link;

    /** Listener that accepted the connection; null before that, and if this socket connects to the peer. */
    private volatile @Nullable ZMTPEndpoint acceptedAt;

    /** Name in this socket, which is the identity or was generated here. Empty until it is known. */
    private volatile byte[] name = {};

    private boolean nameIsGenerated;

    /**
     * Listeners for room; null if there have never been any. A thread that does not see it yet has nothing to wait for.
     */
    private @Nullable PeerRoom room;

    /** Index in {@code WritablePeers}, its only user. */
    private int position;

    /** @param exceeded called on the event loop if the peer has to free its memory */
    @SuppressWarnings("this-escape") // nothing happens before the peer is up
    public Peer(
            SocketContext context,
            PeerSends sends,
            SlowPeers slowPeers,
            Usage usage,
            @Nullable PeerHome home,
            BiConsumer<Peer, ZMTPException> exceeded) {
        this.context = context;
        this.number = context.nextNumber();
        this.sends = sends;
        this.usage = usage;
        this.home = home;
        this.memory = new PeerMemory(context, home == null, cause -> exceeded.accept(this, cause));
        this.counters = new PeerCounters(context.tally().ofAllPeers());
        this.outbound = new Outbound(context, slowPeers, this);
        this.unreadAnswers = new UnreadAnswers(context, this);
    }

    // Properties

    /** Returns the identity that the peer has announced, read-only; empty if it has announced none. */
    public ByteBuffer identity() {
        return info.identity().duplicate();
    }

    @Override
    public ByteBuffer routingId() {
        return context.namesPeers() ? ByteBuffer.wrap(name).asReadOnlyBuffer() : identity();
    }

    @Override
    public String routingIdUTF8() {
        return StandardCharsets.UTF_8.decode(routingId()).toString();
    }

    @Override
    public @Nullable ZMTPSocketType socketType() {
        return info.type();
    }

    @Override
    public @Nullable ZMTPSession session() {
        return info.session();
    }

    @Override
    public ZMTPEndpoint endpoint() {
        return home != null ? home : Objects.requireNonNull(acceptedAt, "not up yet");
    }

    /** Last address of the peer; null if it has never been connected. */
    public @Nullable SocketAddress address() {
        return info.address();
    }

    /** Returns the text of its endpoint. */
    public String endpointText() {
        if (home != null) {
            return home.text();
        }
        ZMTPEndpoint listener = acceptedAt;
        return listener == null ? "closed" : listener.text();
    }

    /** Returns whether the peer is connected and its handshake has succeeded. */
    public boolean isUp() {
        return link != null;
    }

    @Override
    public ZMTPStats stats() {
        return context.stats(counters.counts(0, 0, queue().messages(), queue().bytes(), 0, outbound.oldestAge()));
    }

    // Sending, from any thread

    @Override
    public boolean trySend(ZMTPMessage message) {
        usage.checkSendTo("trySend", message);
        return sends.trySend(this, message);
    }

    @Override
    public void sendOrDrop(ZMTPMessage message) {
        usage.checkSendTo("sendOrDrop", message);
        sends.send(this, message, null);
    }

    @Override
    public void send(ZMTPMessage message) throws InterruptedException {
        sendAndWait(message, null);
    }

    @Override
    public void send(ZMTPMessage message, Duration timeout) throws InterruptedException {
        Usage.checkTimeout(message, timeout);
        sendAndWait(message, timeout);
    }

    private void sendAndWait(ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException {
        usage.checkSendTo("send", message);
        Usage.checkMayWait(message);
        sends.sendAndWait(this, message, timeout);
    }

    @Override
    public CompletableFuture<Void> sendAsync(ZMTPMessage message) {
        usage.checkSendTo("sendAsync", message);
        CompletableFuture<Void> result = new LoopFuture<>();
        sends.send(this, message, result);
        return result;
    }

    @Override
    public boolean isWritable() {
        PeerRoom its = room;
        return its == null ? sends.mayTake(this) : its.isOpen();
    }

    @Override
    public ZMTPRegistration onWritable(Runnable action) {
        usage.checkListenTo("onWritable");
        return openRoom().listen(Objects.requireNonNull(action, "action"));
    }

    private synchronized PeerRoom openRoom() {
        PeerRoom its = room;
        if (its == null) {
            its = new PeerRoom(context, sends, this);
            room = its;
        }
        return its;
    }

    /** Called when a sender has found no room. From any thread. */
    public void roomMissed() {
        PeerRoom its = room;
        if (its != null) {
            its.missed();
        }
    }

    /** Called when there might be room for a message, and when the peer has left. From any thread. */
    public void roomCame() {
        PeerRoom its = room;
        if (its != null) {
            its.came();
        }
        sends.roomCame(this);
    }

    @Override
    public void pauseReading() {
        context.execute(() -> {
            inbound.pausedByUser = true;
            reading();
        });
    }

    @Override
    public void resumeReading() {
        context.execute(() -> {
            inbound.pausedByUser = false;
            reading();
        });
    }

    @Override
    public void close() {
        sends.afterAccepted(this::closeNow);
    }

    @Override
    public int hashCode() {
        return number;
    }

    @Override
    public String toString() {
        SocketAddress from = home == null ? info.address() : null;
        ByteBuffer shown = routingId();
        return "ZMTPPeer{" + endpointText()
                + (from == null ? "" : " from " + from)
                + (shown.hasRemaining() ? ", " + PeerInfo.text(shown) : "")
                + (isUp() ? ", " + info.protocol() : ", down")
                + ", queued=" + queue().messages() + "}";
    }

    // On the socket's event loop

    /** Called when a handler sends to the peer. */
    public void sentHere() {
        PeerRoom its = room;
        if (its != null) {
            its.sentHere();
        }
    }

    void closeNow() {
        PeerHandler now = link;
        if (now != null) {
            now.disconnect();
        }
    }

    /** Ends the connection for this reason. Another can be made at once, because the other side has not failed. */
    public void disconnect(String reason) {
        PeerHandler now = link;
        if (now != null) {
            if (home != null) {
                home.expectEnd();
            }
            now.refuse(reason);
        }
    }

    public PeerSends sends() {
        return sends;
    }

    /** Memory retained for the peer. */
    public PeerMemory memory() {
        return memory;
    }

    /** Ends the connection, and drops the messages waiting to be sent, because the memory budget was exceeded. */
    public void exceeded(ZMTPException cause) {
        PeerHandler now = link;
        if (now != null) {
            Farewell.none(now, cause);
        }
        outbound.failQueue(ZMTPSocketException.Reason.FULL, "the memory budget was exceeded");
    }

    public PeerCounters counters() {
        return counters;
    }

    public Outbound outbound() {
        return outbound;
    }

    public SendQueue queue() {
        return outbound.queue();
    }

    public Inbound inbound() {
        return inbound;
    }

    public @Nullable Outgoing asked() {
        return asked;
    }

    public void asked(@Nullable Outgoing oldest) {
        asked = oldest;
    }

    public @Nullable Outgoing awaited() {
        return awaited;
    }

    public void awaited(@Nullable Outgoing request) {
        awaited = request;
    }

    public int position() {
        return position;
    }

    public void position(int index) {
        position = index;
    }

    /** Returns whether there is no connection, and none will be made. */
    public boolean isForgotten() {
        return link == null && (home == null || home.state() == ZMTPEndpoint.State.STOPPED);
    }

    @Nullable
    public PeerHome home() {
        return home;
    }

    @Nullable
    public PeerHandler link() {
        return link;
    }

    public byte[] nameBytes() {
        return name;
    }

    public void name(byte[] name, boolean generated) {
        this.name = name;
        nameIsGenerated = generated;
    }

    public boolean hasGeneratedName() {
        return nameIsGenerated;
    }

    /** Sets the facts about the peer from the handshake, before messages can be sent to it. */
    public void info(PeerInfo info) {
        this.info = info;
        memory.in(info.session());
    }

    public void up(PeerHandler link) {
        this.acceptedAt = link.listener();
        this.link = link;
        memory.connected(true);
        counters.add(CONNECTS, 1);
        unreadAnswers.up();
        reading();
        roomCame();
    }

    public void down() {
        link = null;
        memory.connected(false);
        unreadAnswers.down();
    }

    /** Reads from the peer while there is room. A closed socket drops the messages that it reads. */
    public void reading() {
        PeerHandler now = link;
        if (now != null) {
            now.reading(context.isClosed() || (!inbound.pausedByUser && !inbound.full && !unreadAnswers.areMany()));
        }
    }

    public UnreadAnswers unreadAnswers() {
        return unreadAnswers;
    }

    /**
     * Returns whether its transport accepts a message, and the peer does not owe the answer to a request without an id.
     */
    public boolean isFree() {
        PeerHandler now = link;
        return now != null && awaited == null && now.isWritable();
    }

    /** Called when no more messages wait for the peer. */
    public void drained() {
        if (home != null) {
            home.drained();
        }
    }

    /** Returns the failure that its home is recovering from; null if there is none. */
    @Nullable
    public Throwable lastFailure() {
        return home == null ? null : home.lastFailure();
    }

    /** Returns whether messages are queued for the peer while it is disconnected. */
    public boolean mayBeQueuedFor() {
        return home != null && context.queuesWhileDown() && !isRequester();
    }

    /** Returns the number of the peer at the endpoint. What is meant for another number must not be sent to it. */
    public int occupant() {
        return inbound.occupant();
    }

    /** Returns whether each answer to the peer goes over the connection of its request, to be taken for no other. */
    public boolean isRequester() {
        return context.type() == ZMTPSocketType.REP || info.type() == ZMTPSocketType.REQ;
    }

    /** Returns whether its home is closed, or will be as soon as its queue is empty. */
    public boolean isLeaving() {
        return home != null && home.isClosing();
    }
}
