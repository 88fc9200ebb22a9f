package dev.zmtp.internal.socket;

import static dev.zmtp.internal.socket.PeerCounters.Counter.CONNECTS;
import static dev.zmtp.internal.socket.PeerCounters.Counter.DROPPED;
import static dev.zmtp.internal.socket.PeerCounters.Counter.SENT;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The peer of one connection after another, with what waits for it. A peer that was accepted has one connection, and
 * ends with it.
 */
public final class Peer implements ZMTPPeer {

    private final SocketContext context;
    private final PeerSends sends;
    private final SlowPeers slowPeers;
    private final Usage usage;
    private final @Nullable PeerHome home;
    private final SendQueue queue;
    private final PeerCounters counters;
    final Inbound inbound = new Inbound();

    /** The number of requests with ids that wait for an answer of this peer. Only {@link Requests} uses it. */
    int asked;

    /** The request without an id that waits for an answer of this peer. Only {@link Requests} changes it. */
    @Nullable
    Outgoing awaited;

    private volatile PeerInfo info = PeerInfo.UNKNOWN;
    private volatile @Nullable PeerHandler link;

    /** Where it was accepted; null before, and if this socket connects to it. */
    private volatile @Nullable ZMTPEndpoint acceptedAt;

    /** Its name in this socket: the identity, or one that was made here. Empty until it is known. */
    private volatile byte[] name = {};

    /** Its place in {@link WritablePeers}, which alone uses it. */
    int turn;

    /** Whether {@link RoundRobin}, which alone uses it, counts the peer among those that messages may be for. */
    boolean target;

    /** Whether the peer is not read from because it has not read the answers to what it asked. */
    private boolean answersWait;

    private final Noted noted = new Noted();

    Peer(SocketContext context, PeerSends sends, SlowPeers slowPeers, Usage usage, @Nullable PeerHome home) {
        this.context = context;
        this.sends = sends;
        this.slowPeers = slowPeers;
        this.usage = usage;
        this.home = home;
        this.queue = new SendQueue(context.sendLimit());
        this.counters = new PeerCounters(context.tally().ofAllPeers());
    }

    // What it is

    /** The identity that the peer has announced, read-only; empty if it has announced none. */
    ByteBuffer identity() {
        return info.identity().duplicate();
    }

    @Override
    public ByteBuffer name() {
        return context.namesPeers() ? ByteBuffer.wrap(name).asReadOnlyBuffer() : identity();
    }

    @Override
    public String nameUTF8() {
        return StandardCharsets.UTF_8.decode(name()).toString();
    }

    @Override
    public @Nullable ZMTPSocketType type() {
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

    /** The text of its endpoint. */
    String place() {
        if (home != null) {
            return home.text();
        }
        ZMTPEndpoint listener = acceptedAt;
        return listener == null ? "closed" : listener.text();
    }

    /** Whether it is connected and its handshake has succeeded. */
    public boolean isUp() {
        return link != null;
    }

    @Override
    public ZMTPStats stats() {
        return counters.stats(0, 0, queue.messages(), queue.bytes(), 0, oldest());
    }

    // Out, from any thread

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
    public CompletableFuture<Void> sendAsync(ZMTPMessage message) {
        usage.checkSendTo("sendAsync", message);
        CompletableFuture<Void> result = new LoopFuture<>();
        sends.send(this, message, result);
        return result;
    }

    @Override
    public boolean isWritable() {
        return sends.mayTake(this);
    }

    @Override
    public void pause() {
        context.execute(() -> {
            inbound.pausedByUser = true;
            reading();
        });
    }

    @Override
    public void resume() {
        context.execute(() -> {
            inbound.pausedByUser = false;
            reading();
        });
    }

    @Override
    public void close() {
        context.execute(this::closeNow);
    }

    @Override
    public String toString() {
        SocketAddress from = home == null ? info.address() : null;
        ByteBuffer shown = name();
        return "ZMTPPeer{" + place()
                + (from == null ? "" : " from " + from)
                + (shown.hasRemaining() ? ", " + PeerInfo.text(shown) : "")
                + (isUp() ? ", " + info.protocol() : ", down")
                + ", queued=" + queue.messages() + "}";
    }

    // On the socket's event loop

    void closeNow() {
        PeerHandler now = link;
        if (now != null) {
            now.disconnect();
        }
    }

    /** Ends the connection for this reason. Another one may be made at once, as the other side has not failed. */
    void disconnect(String reason) {
        PeerHandler now = link;
        if (now != null) {
            if (home != null) {
                home.expectEnd();
            }
            now.refuse(reason);
        }
    }

    PeerCounters counters() {
        return counters;
    }

    void limit(QueueLimit limit) {
        queue.limit(limit);
    }

    SendQueue queue() {
        return queue;
    }

    /** Whether there is no connection, and none will be made. */
    boolean isForgotten() {
        return link == null && (home == null || home.state() == ZMTPEndpoint.State.STOPPED);
    }

    @Nullable
    PeerHome home() {
        return home;
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
        this.acceptedAt = link.listener();
        this.link = link;
        counters.add(CONNECTS, 1);
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
        if (answersWait != queue.isFull()) {
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
            noted.send(this);
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

    /** Whether its transport takes a message, and the peer does not owe the answer to a request without an id. */
    boolean isFree() {
        PeerHandler now = link;
        return now != null && awaited == null && now.isWritable();
    }

    /** Gives the transport a message, which takes it. */
    void pass(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        counters.add(SENT, 1);
        Objects.requireNonNull(link).write(message, result);
    }

    /** Sends or queues a message that was already accepted, even beyond the limit. */
    void sendAccepted(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        counters.add(SENT, 1);
        if (!passed(message, result)) {
            if (TypeRules.keepsNewest(context.config().whenFull())) {
                slowPeers.makeRoom(this);
            }
            enqueue(message, result);
        }
    }

    Fate send(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        sendNoted();
        return sendNow(message, result);
    }

    /** Sends a message whose turn it is, even beyond the limit. */
    void sendInTurn(ZMTPMessage message) {
        if (sendNow(message, null) == Fate.REFUSED) {
            counters.add(SENT, 1);
            enqueue(message, null);
        }
    }

    private Fate sendNow(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        Fate fate = passOrQueue(message, result);
        if (fate != Fate.REFUSED) {
            counters.add(SENT, 1);
        }
        return fate;
    }

    private boolean passed(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        PeerHandler now = link;
        if (now == null || !queue.isEmpty() || !now.isWritable()) {
            return false;
        }
        now.write(message, result);
        return true;
    }

    private Fate passOrQueue(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        if (passed(message, result)) {
            return Fate.PASSED;
        }
        if (queue.hasRoom()) {
            return enqueue(message, result);
        }
        return switch (context.config().whenFull()) {
            case WAIT -> Fate.REFUSED;
            case DROP_NEW, DISCONNECT -> {
                QueuedMessage dropped = new QueuedMessage(message, result);
                slowPeers.drop(this, dropped, DropReason.FULL, "the queue is full");
                yield Fate.DROPPED;
            }
            case DROP_OLD, KEEP_LATEST -> {
                slowPeers.makeRoom(this);
                yield enqueue(message, result);
            }
        };
    }

    private Fate enqueue(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        queue.add(message, result, context.nanoTime());
        if (queue.becameSlow()) {
            context.events()
                    .fire(new ZMTPSocketEvent.SlowPeer(
                            this, queue.messages(), queue.bytes(), oldest(), counters.get(DROPPED)));
            slowPeers.watch(this);
        }
        return Fate.QUEUED;
    }

    /** Returns how long the oldest message has waited. From any thread. */
    Duration oldest() {
        return queue.oldest(context.nanoTime());
    }

    /** Writes what waits, as long as the transport takes it. */
    void drain() {
        PeerHandler now = link;
        if (now == null || queue.isEmpty()) {
            return;
        }
        long maxAge = context.maxAgeNanos();
        long time = maxAge == Long.MAX_VALUE ? 0 : context.nanoTime();
        boolean some = false;
        while (now.isWritable()) {
            QueuedMessage next = queue.poll();
            if (next == null) {
                break;
            }
            some = true;
            if (maxAge != Long.MAX_VALUE && time - next.since > maxAge) {
                String why = "it has waited for longer than " + context.config().maxAge();
                slowPeers.drop(this, next, DropReason.EXPIRED, why);
            } else {
                ZMTPMessage message = next.message();
                CompletableFuture<Void> result = next.result;
                queue.giveBack(next);
                now.write(message, result);
            }
        }
        if (some) {
            queue.becameSlow(); // or is no longer slow
            if (answersWait) {
                readIfThereIsRoom();
            }
            context.room();
            drained(); // perhaps the last one was dropped, and not written
        }
    }

    /** Called when nothing waits for it any more. */
    void drained() {
        if (home != null) {
            home.drained();
        }
    }

    /** Fails what waits, as the peer will not come back. */
    void failQueue(ZMTPSocketException.Reason reason, String text) {
        for (QueuedMessage next = queue.poll(); next != null; next = queue.poll()) {
            counters.add(DROPPED, 1);
            next.fail(reason, text);
        }
    }

    /** Why its home waits, if it does. */
    @Nullable
    Throwable lastFailure() {
        return home == null ? null : home.lastFailure();
    }

    /** Whether messages wait for it while it is away. */
    boolean mayBeQueuedFor() {
        return home != null && context.config().queueWhileDown();
    }

    /** Whether its home is closed, or will be as soon as its queue is empty. */
    boolean isLeaving() {
        return home != null && home.isClosing();
    }
}
