package dev.zmtp.internal.proxy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.Count;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.socket.endpoint.Sockets;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Names;
import dev.zmtp.internal.socket.receive.Sink;
import dev.zmtp.internal.socket.send.Senders;
import dev.zmtp.internal.transport.InprocRing;
import dev.zmtp.internal.transport.QueueLimit;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a proxy. It takes messages on the event loop of one socket and sends them on that of the other.
 *
 * <p>A bounded ring connects the two. As soon as a message is refused, or the ring is full, no more messages are taken.
 * They then wait in the queues of the peers that sent them, and these peers are not read from once their queues are
 * full. If the source keeps only the newest message of each peer, newer messages replace those that wait.
 */
public final class Forwarding implements Sink {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Forwarding");

    /** Limit of the messages that the source's event loop has taken and the target's has not sent, and their memory. */
    private static final QueueLimit ON_THE_WAY = new QueueLimit(1_024, 4L << 20);

    /** The states of the target's event loop. */
    private enum State {
        IDLE,
        DRAINING,
        /** The rest is sent after the event loop has read. */
        RESTING,
        ENDED
    }

    /** A message and the peer that sent it. The message returns to the queue of this peer if it is not forwarded. */
    private record Taken(Peer from, int occupant, ZMTPMessage message, long bytes, long memory) {}

    private final SocketContext source;
    private final Inbox inbox;
    private final SocketContext target;
    private final Senders senders;
    private final @Nullable Capture capture;
    private final Runnable whenASocketEnds;
    private final RateLimitedLog failures = new RateLimitedLog(logger, InternalLogLevel.WARN, System::nanoTime);
    private final Runnable drainTask = this::drain;
    private final Runnable pumpTask;

    private final InprocRing ring = new InprocRing(ON_THE_WAY);

    /** True if no message is taken until the target's event loop has checked the ring again. */
    private final AtomicBoolean waiting = new AtomicBoolean();

    private final AtomicBoolean drainScheduled = new AtomicBoolean();
    private volatile boolean paused;
    private volatile boolean ended;

    // Used by the source's event loop
    private final Count received = new Count();
    private final Count bytesReceived = new Count();

    // Used by the target's event loop
    private final Count sent = new Count();
    private final Count bytesSent = new Count();
    private final Count dropped = new Count();
    private final List<AutoCloseable> registrations = new ArrayList<>(2);
    private @Nullable Taken pending;
    private boolean pendingIsCaptured;
    private State state = State.IDLE;
    private long freed;

    public Forwarding(ProxyEnd source, ProxyEnd target, @Nullable Capture capture, Runnable whenASocketEnds) {
        this.source = source.context();
        this.inbox = source.inbox();
        this.target = target.context();
        this.senders = target.senders();
        this.capture = capture;
        this.whenASocketEnds = whenASocketEnds;
        this.pumpTask = inbox::pump;
    }

    /** Starts forwarding. The inbox of the source must be claimed. */
    public void start() {
        target.executeAnyway(() -> {
            if (state == State.ENDED) {
                return;
            }
            registrations.add(senders.writability().listen(drainTask));
            if (capture != null) {
                registrations.add(capture.onCapacity(() -> target.executeAnyway(drainTask)));
            }
            source.executeAnyway(() -> {
                if (!ended) {
                    inbox.sink(this);
                }
            });
            endWithCapture(); // which could have ended before it was listened to
        });
    }

    // On the source's event loop

    @Override
    public boolean wants() {
        return !paused && !ended && !waiting.get() && TypeRules.sends(target.type()) && hasRoom();
    }

    /** Returns whether the ring accepts another message. Otherwise the target's event loop reports when it does. */
    private boolean hasRoom() {
        if (ring.hasRoom()) {
            return true;
        }
        waiting.set(true); // first, because the target reads this after the ring, and the source does the opposite
        VarHandle.fullFence();
        if (!ring.hasRoom()) {
            return false;
        }
        waiting.set(false);
        return true;
    }

    @Override
    public void take(Peer from, ZMTPMessage message) {
        int occupant = from.occupant();
        ZMTPMessage presented =
                Objects.requireNonNull(Names.added(source, from, occupant, message), "names change on this event loop");
        long bytes = presented.readableBytes();
        received.add(1);
        bytesReceived.add(bytes);
        long memory = MessageMemory.of(presented, bytes);
        if (!ring.offer(new Taken(from, occupant, presented, bytes, memory), memory)) {
            ReferenceCountUtil.safeRelease(presented);
            throw new IllegalStateException("the ring has no room for the message");
        }
        wakeTarget();
    }

    @Override
    public void closed() {
        whenASocketEnds.run();
    }

    private void wakeTarget() {
        if (target.inEventLoop()) {
            drain();
            return;
        }
        VarHandle.fullFence(); // either this thread sees that the drain ends, or the drain sees the added message
        target.executeOnce(drainScheduled, drainTask);
    }

    // On the target's event loop

    private void drain() {
        if (state != State.IDLE) {
            return;
        }
        endWithCapture();
        state = State.DRAINING;
        int left = LoopBudget.MESSAGES;
        boolean room = true;
        for (Taken next = next(); room && next != null && left > 0; next = next()) {
            room = give(next);
            left = target.flushes().isTaskLong() ? 0 : left - 1;
        }
        state = State.IDLE;
        ring.free(freed);
        freed = 0;
        if (room) {
            wakeSource();
        }
        if (left == 0) {
            drainScheduled.set(true); // the source's event loop must not run it earlier
            try {
                target.executeAfterReads(this::drainRest);
            } catch (Throwable e) { // there is no memory for the task
                drainScheduled.set(false);
                throw e;
            }
            state = State.RESTING;
            return;
        }
        drainScheduled.set(false);
        VarHandle.fullFence(); // like in wakeTarget
        if (room && !paused && !ring.isEmpty()) {
            target.executeOnce(drainScheduled, drainTask); // not now, because draining would have no bound
        }
    }

    private void endWithCapture() {
        if (capture != null && capture.hasEnded()) {
            whenASocketEnds.run();
        }
    }

    private void drainRest() {
        if (state == State.RESTING) {
            state = State.IDLE;
            drain();
        }
    }

    /**
     * Returns the message to send next, which stays pending until it is sent; null if there is none, or while paused.
     */
    private @Nullable Taken next() {
        if (pending == null && !paused) {
            pending = (Taken) ring.poll();
            freed += pending == null ? 0 : pending.memory;
        }
        return paused ? null : pending;
    }

    /** Returns whether the message was sent or dropped. Otherwise it is pending. */
    private boolean give(Taken next) {
        Fate fate = Fate.DROPPED;
        boolean isOurs = true;
        try {
            boolean fits = fits(next);
            if (fits && !isCaptured(next.message)) {
                fate = Fate.REFUSED;
            } else if (fits && TypeRules.maySend(target.type(), next.message)) {
                isOurs = false; // a failure does not tell whether it is in the queue of a peer
                fate = senders.offer(next.message);
            }
        } catch (Throwable e) { // for example out of memory, which does not affect the next message
            failures.log("A message of a proxy", "could not be forwarded", e);
        }
        if (fate == Fate.REFUSED) {
            waiting.set(true);
            return false;
        }
        if (isOurs) {
            ReferenceCountUtil.safeRelease(next.message);
        }
        pending = null;
        pendingIsCaptured = false;
        if (fate == Fate.DROPPED) {
            dropped.add(1);
        } else {
            sent.add(1);
            bytesSent.add(next.bytes);
        }
        return true;
    }

    /**
     * Returns whether a message is within the limits of its connection, including the name of its peer. If it were not,
     * it might be too long for the next peer, which would end the connection of all senders.
     */
    private boolean fits(Taken next) {
        ZMTPSession session = next.from.session(); // null within the process
        ZMTPConfig limits = session == null ? source.config().codec() : session.config();
        int frames = next.message.size();
        return !source.namesPeers()
                || (frames <= limits.maxMessageFrames()
                        && TypeRules.countedLength(next.bytes, frames) <= limits.maxMessageLength());
    }

    /** Returns whether the pending message was captured, if messages are. If not, it waits. */
    private boolean isCaptured(ZMTPMessage message) {
        if (capture != null && !pendingIsCaptured) {
            pendingIsCaptured = capture.offer(message);
            return pendingIsCaptured;
        }
        return true;
    }

    private void wakeSource() {
        if (waiting.get() && waiting.compareAndSet(true, false)) {
            source.execute(pumpTask);
        }
    }

    // Control, from any thread

    public void pause() {
        paused = true;
    }

    public void resume() {
        paused = false;
        target.executeAnyway(drainTask);
        source.executeAnyway(pumpTask);
    }

    /** Stops taking messages, sends those that can be sent now, and returns the rest to their peers. Called once. */
    public void end(Runnable whenEnded) {
        source.executeLaterAnyway(
                () -> { // a message can be about to be sent
                    ended = true;
                    target.executeAnyway(() -> {
                        List<Taken> rest = endThere();
                        source.executeAnyway(() -> {
                            endHere(rest);
                            whenEnded.run();
                        });
                    });
                });
    }

    private List<Taken> endThere() {
        state = State.IDLE; // if it is resting, this is the last run
        drain();
        state = State.ENDED;
        registrations.forEach(Sockets::closeQuietly);
        List<Taken> rest = new ArrayList<>();
        if (pending != null) {
            rest.add(pending);
            pending = null;
        }
        for (Taken next = (Taken) ring.poll(); next != null; next = (Taken) ring.poll()) {
            rest.add(next);
        }
        return rest;
    }

    private void endHere(List<Taken> rest) {
        for (int i = rest.size() - 1; i >= 0; i--) {
            if (!returned(rest.get(i))) {
                dropped.add(1);
            }
        }
        inbox.unsink(this);
    }

    /** Returns whether the peer has its message back. */
    private boolean returned(Taken last) {
        try {
            return inbox.returned(last.from, last.occupant, Names.removed(source, last.message));
        } catch (Throwable e) { // for example out of memory, which does not affect the other messages
            failures.log("A message of a proxy", "could not be returned", e);
            return false;
        }
    }

    // Statistics, from any thread

    public long received() {
        return received.get();
    }

    public long bytesReceived() {
        return bytesReceived.get();
    }

    public long sent() {
        return sent.get();
    }

    public long bytesSent() {
        return bytesSent.get();
    }

    public long dropped() {
        return dropped.get();
    }
}
