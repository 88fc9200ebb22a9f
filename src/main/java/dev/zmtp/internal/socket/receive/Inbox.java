package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DISCARDED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages that the application has not taken, in a queue for each peer, served in turn. At any time, the receiver
 * is either a sink on the event loop, or takers of single messages on any thread.
 */
public final class Inbox {

    /** Stands for a sink that is about to be set. */
    private static final Object RESERVED = new Object();

    private final SocketContext context;
    private final ReentrantLock lock = new ReentrantLock();
    final InboundQueues queues;
    private final Line line;
    private final Set<Taker> takers = new LinkedHashSet<>(0);
    private final Sleepers sleepers;

    /** Sink that gets all messages, or {@link #RESERVED}; null if takers get them. */
    private volatile @Nullable Object owner;

    /** True if there has ever been a receiver. Guarded by the lock. */
    private boolean received;

    private final SinkPump pump;
    private final Runnable serveTask = this::serve;

    /** True if messages have arrived for sleeping threads. These are woken once, at the end of the read. */
    private boolean wakes;

    private final Runnable wakeTask = this::wake;

    public Inbox(SocketContext context) {
        this.context = context;
        this.queues = new InboundQueues(context);
        this.line = queues.line();
        this.sleepers = new Sleepers(context, this, queues, lock);
        this.pump = new SinkPump(context, this);
    }

    // Inbound, on the event loop

    /**
     * Takes ownership of the message. It is copied if it has to wait and would retain much more memory than it needs.
     */
    public void deliver(Peer from, ZMTPMessage message) {
        Sink to = pump.sink();
        if (to != null && to == owner && line.isEmpty() && to.wants() && !from.inbound().aside && to.wants(from)) {
            pump.hand(to, from, message);
            return;
        }
        for (Taker taker = takerOrQueue(from, message); taker != null; taker = takerOrQueue(from, message)) {
            if (taker.take(from, from.occupant(), message)) {
                return;
            }
        }
        pump.pump(); // if the sink has declined the peer, other peers must not wait for it
    }

    private @Nullable Taker takerOrQueue(Peer from, ZMTPMessage message) {
        boolean sleep;
        ZMTPMessage unkept;
        lock.lock();
        try {
            Taker taker = line.isEmpty() ? pollTaker() : null; // otherwise the waiting takers have messages
            if (taker != null) {
                return taker;
            }
            unkept = queues.add(from, MessageMemory.compact(message), false);
            sleep = sleepers.areAsleep();
        } finally {
            lock.unlock();
        }
        if (from.inbound().full) {
            from.reading();
        }
        if (sleep && !wakes) {
            wakes = true;
            context.execute(wakeTask); // for messages that do not arrive with a read
        }
        queues.discard(from, unkept);
        return null;
    }

    /** Called at the end of a read. */
    public void readComplete() {
        if (wakes) {
            wake();
        }
    }

    private void wake() {
        wakes = false;
        underLock(sleepers::wakeForNext);
    }

    /** Removes the taker that has waited longest; null if none waits, as after a close. Under the lock. */
    private @Nullable Taker pollTaker() {
        Iterator<Taker> first = takers.iterator();
        if (!first.hasNext()) {
            return null;
        }
        Taker taker = first.next();
        first.remove();
        return taker;
    }

    // Outbound

    /** Gives the taker the next message, now, soon or when it arrives. Called from any thread. */
    public void take(Taker taker) {
        take(taker, false);
    }

    /** @param inFront whether the taker comes before the waiting takers */
    private void take(Taker first, boolean inFront) {
        Taker taker = first;
        boolean now = inFront || !first.waits();
        while (true) {
            now = now || line.isEmpty() || context.completions().mayBeComplete();
            Peer from = null;
            int occupant = 0;
            ZMTPMessage message = null;
            ZMTPSocketException failure;
            boolean waits = false;
            lock.lock();
            try {
                failure = refusal();
                if (failure == null && (line.isEmpty() || !now || (!inFront && !takers.isEmpty()))) {
                    waits = taker.waits() && takers.add(taker) && !line.isEmpty();
                } else if (failure == null) {
                    from = line.poll();
                    occupant = from == null ? 0 : from.occupant(); // which changes when the messages are dropped
                    message = from == null ? null : queues.next(from);
                }
            } finally {
                lock.unlock();
            }
            if (failure != null) {
                taker.fail(failure);
            } else if (waits) { // although there is a message
                context.completions().later(serveTask, !now);
            }
            if (from == null || message == null || taker.take(from, occupant, message)) {
                return;
            }
            Taker another = putBack(from, occupant, message);
            if (another == null) {
                return;
            }
            taker = another;
            inFront = true;
        }
    }

    /**
     * Waits for the next message, and returns it as the application sees it; null if none has arrived in time. Not on
     * an event loop. An interrupted thread takes none.
     *
     * @param nanos {@code Long.MAX_VALUE} for no limit
     */
    public @Nullable ZMTPMessage await(long nanos) throws InterruptedException {
        return sleepers.await(nanos);
    }

    /** Notes that there is a receiver. Returns why messages cannot be received; null if they can. Under the lock. */
    @Nullable
    ZMTPSocketException refusal() {
        if (queues.isClosed()) {
            return new ZMTPSocketException(CLOSED, "the socket is closed");
        }
        if (owner != null) {
            return new ZMTPSocketException(ILLEGAL_STATE, "a handler receives the messages");
        }
        received = true;
        return null;
    }

    /** Returns whether futures wait for messages. Under the lock. */
    boolean hasTakers() {
        return !takers.isEmpty();
    }

    /** Gives the first taker the first message. Called once for each taker that waits although there are messages. */
    private void serve() {
        Taker taker;
        Peer from;
        int occupant;
        ZMTPMessage message;
        lock.lock();
        try {
            from = takers.isEmpty() ? null : line.poll();
            occupant = from == null ? 0 : from.occupant();
            message = from == null ? null : queues.next(from);
            taker = message == null ? null : pollTaker();
            sleepers.wakeForNext();
        } finally {
            lock.unlock();
        }
        if (from != null && message != null && taker != null && !taker.take(from, occupant, message)) {
            Taker another = putBack(from, occupant, message);
            if (another != null) {
                take(another, true);
            }
        }
    }

    /** Returns the taker for the message, which has begun to wait in the meantime; null if there is none. */
    private @Nullable Taker putBack(Peer from, int occupant, ZMTPMessage message) {
        Taker next = null;
        ZMTPMessage unkept;
        lock.lock();
        try {
            unkept = queues.putBack(from, occupant, message);
            if (owner != null) { // in the meantime, and the sink checks the queue again
                context.execute(pump::pump);
            } else {
                next = pollTaker();
            }
            if (next == null) {
                sleepers.wakeForNext();
            }
        } finally {
            lock.unlock();
        }
        queues.discard(from, unkept);
        return next;
    }

    /** Removes a taker that needs no message any more. */
    public void forget(Taker taker) {
        underLock(() -> {
            if (takers.remove(taker)) {
                sleepers.wakeForNext();
            }
        });
    }

    // On the event loop

    /** Registers the receiver of all messages, until the registration is closed. From any thread. */
    public ZMTPRegistration register(Sink to) {
        context.checkOpen();
        claim(to, true);
        context.executeHere(() -> {
            if (owner == to) {
                begin(to);
            }
        });
        return () -> {
            if (release(to)) { // now, because the caller can receive or register another receiver next
                context.executeHere(() -> pump.leave(to));
            }
        };
    }

    /** Reserves the messages for a sink, which {@code receives} them or keeps others from it. From any thread. */
    public void claim(boolean receives) {
        claim(RESERVED, receives);
    }

    private void claim(Object who, boolean receives) {
        underLock(() -> {
            if (owner != null || !takers.isEmpty() || sleepers.areThere()) {
                throw new IllegalStateException("a receiver is already registered");
            }
            owner = who;
            received |= receives;
        });
    }

    /** Ends the reservation for a sink that is not set after all. Called from any thread. */
    public void unclaim() {
        release(RESERVED);
    }

    private boolean release(Object who) {
        return locked(() -> {
            boolean was = owner == who;
            if (was) {
                owner = null;
                line.allBack();
            }
            return was;
        });
    }

    /** Passes all messages to the sink, which has reserved them. Waiting messages come first. */
    public void sink(Sink to) {
        owner = to;
        begin(to);
    }

    private void begin(Sink to) {
        if (queues.isClosed()) {
            to.closed();
        } else {
            pump.begin(to);
        }
    }

    /** Removes the sink, which accepts no more messages, or ends its reservation if it has not been set. */
    public void unsink(Sink from) {
        if (!release(from)) {
            unclaim();
        }
        pump.leave(from);
    }

    /**
     * Takes back a message that the sink has taken, to be received next. Called before the sink is removed, with the
     * last message first. Takes ownership of the message.
     *
     * @param occupant the {@link Peer#occupant()} when the sink took the message
     * @return true if the message is kept or a newer message replaces it; false if the socket is closed
     */
    public boolean returned(Peer from, int occupant, ZMTPMessage message) {
        ZMTPMessage unkept = locked(() -> queues.putBack(from, occupant, message));
        boolean isOpen = !queues.isClosed();
        if (isOpen) {
            from.reading();
        }
        queues.discard(from, unkept);
        return isOpen;
    }

    /** Called when the sink might accept more messages. */
    public void pump() {
        pump.pump();
    }

    /** Returns whether there might be a message for the sink. */
    boolean mayHaveNext(Sink to) {
        return to == owner && line.mayHaveNext();
    }

    /** Passes the next message to the sink, if there is a message that it accepts. */
    boolean passNext(Sink to) {
        Peer from;
        ZMTPMessage message;
        lock.lock();
        try {
            from = to == owner ? line.next(to) : null;
            message = from == null ? null : queues.next(from);
        } finally {
            lock.unlock();
        }
        if (from == null || message == null) {
            return false;
        }
        pump.hand(to, from, message);
        return true;
    }

    /** Gives turns again to a peer that the sink has declined. Called by the sink, before it pumps. */
    public void back(Peer from) {
        underLock(() -> line.back(from));
    }

    /** Called when the connection of the peer has ended. On the event loop. */
    public void down(Peer from) {
        underLock(() -> queues.down(from));
    }

    /** Drops the messages of this peer that were not taken, and returns their number. On the event loop. */
    public int drop(Peer from) {
        return discarded(from, locked(() -> queues.removeAll(from)));
    }

    /**
     * Drops the oldest messages of a peer that is not read because many wait, and returns their number. Drops nothing
     * if there has ever been a receiver, nor, unless {@code always}, if nothing has reserved the messages, because they
     * can be received next. On the event loop.
     */
    public int dropOldest(Peer from, boolean always) {
        Deque<ZMTPMessage> dropped = locked(
                () -> received || !(always || owner != null) ? new ConsistentDeque<>() : queues.removeOldest(from));
        if (!dropped.isEmpty()) {
            from.reading();
        }
        return discarded(from, dropped);
    }

    private void underLock(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private <T extends @Nullable Object> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    private static int discarded(Peer from, Deque<ZMTPMessage> dropped) {
        dropped.forEach(ReferenceCountUtil::safeRelease);
        from.counters().add(DISCARDED, dropped.size());
        return dropped.size();
    }

    /** Releases the messages that were not taken. */
    public void close() {
        Deque<ZMTPMessage> left;
        List<Taker> waiting;
        lock.lock();
        try {
            left = queues.close();
            waiting = List.copyOf(takers);
            takers.clear();
            sleepers.wakeAll();
        } finally {
            lock.unlock();
        }
        left.forEach(ReferenceCountUtil::safeRelease);
        waiting.forEach(taker -> taker.fail(new ZMTPSocketException(CLOSED, "the socket is closed")));
        Sink to = pump.sink();
        if (to != null) {
            pump.leave(to);
            to.closed();
        }
    }
}
