package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DISCARDED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.STATE;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The messages that the application has not taken: a queue for each peer, which are served in turn. There is one kind
 * of receiver at a time: a sink on the event loop, or takers of single messages on any thread.
 */
public final class Inbox {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Inbox");

    /** Stands for a sink that is about to come. */
    private static final Object RESERVED = new Object();

    /** The states of passing messages to the sink. */
    private enum Pump {
        IDLE,
        RUNNING,
        /** The sink gets what is left when the event loop has read. */
        RESTING
    }

    private final SocketContext context;
    private final ReentrantLock lock = new ReentrantLock();
    private final InboundQueues queues;
    private final Line line;
    private final Set<Taker> takers = new LinkedHashSet<>(0);
    /** The sink that gets all messages, or {@link #RESERVED}; null if takers get them. */
    private volatile @Nullable Object owner;

    private volatile boolean closed;

    /** Whether anybody has ever received. Guarded by the lock. */
    private boolean received;

    /** On the event loop. */
    private @Nullable Sink sink;

    private ZMTPRegistration watch = () -> {};

    private final Runnable serveTask = this::serve;
    private Pump pump = Pump.IDLE;

    public Inbox(SocketContext context) {
        this.context = context;
        this.queues = new InboundQueues(context);
        this.line = queues.line();
    }

    // In, on the event loop

    /** Takes the message over. It is copied if it has to wait and would keep much more memory than it needs. */
    public void deliver(Peer from, ZMTPMessage message) {
        Sink to = sink;
        if (to != null && to == owner && line.isEmpty() && to.wants() && !from.inbound().aside && to.wants(from)) {
            hand(to, from, message);
            return;
        }
        for (Taker taker = takerOrQueue(from, message); taker != null; taker = takerOrQueue(from, message)) {
            if (taker.take(from, message)) {
                return;
            }
        }
        pump(); // if the sink has declined the peer, others must not wait for it
    }

    private void hand(Sink to, Peer from, ZMTPMessage message) {
        try {
            to.take(from, message);
        } catch (Throwable e) { // from the application: the connection and the next message have no part in it
            logger.warn("The handler of messages failed at one from {}", from, e);
            context.fire(new ZMTPSocketEvent.HandlerFailed(from, e));
        }
    }

    private @Nullable Taker takerOrQueue(Peer from, ZMTPMessage message) {
        lock.lock();
        try {
            Taker taker = line.isEmpty() ? pollTaker() : null; // otherwise those that wait have messages
            if (taker != null) {
                return taker;
            }
            if (!add(from, MessageMemory.compact(message), false)) {
                return null;
            }
        } finally {
            lock.unlock();
        }
        from.reading();
        return null;
    }

    /** Removes the taker that has waited longest; null if none waits, as when the socket is closed. Under the lock. */
    private @Nullable Taker pollTaker() {
        Iterator<Taker> first = takers.iterator();
        if (!first.hasNext()) {
            return null;
        }
        Taker taker = first.next();
        first.remove();
        return taker;
    }

    /** Queues the message and returns true, or releases it if the socket is closed. Under the lock. */
    private boolean add(Peer from, ZMTPMessage message, boolean atFront) {
        if (closed) {
            ReferenceCountUtil.safeRelease(message);
            return false;
        }
        queues.add(from, message, atFront);
        return true;
    }

    // Out

    /** Gives the taker the next message, now, soon or when it arrives. Called from any thread. */
    public void take(Taker taker) {
        take(taker, false);
    }

    /** @param inFront whether it comes before those that wait */
    private void take(Taker first, boolean inFront) {
        Taker taker = first;
        boolean now = inFront || !first.waits();
        while (true) {
            now = now || line.isEmpty() || context.completions().mayBeComplete();
            Peer from = null;
            ZMTPMessage message = null;
            ZMTPSocketException failure;
            boolean waits = false;
            lock.lock();
            try {
                failure = refusal();
                received |= failure == null;
                if (failure == null && (line.isEmpty() || !now || (!inFront && !takers.isEmpty()))) {
                    waits = taker.waits() && takers.add(taker) && !line.isEmpty();
                } else if (failure == null) {
                    from = line.poll();
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
            if (from == null || message == null || taker.take(from, message)) {
                return;
            }
            Taker another = putBack(from, message);
            if (another == null) {
                return;
            }
            taker = another;
            inFront = true;
        }
    }

    /** Returns why nobody can take messages; null if they can. Under the lock. */
    private @Nullable ZMTPSocketException refusal() {
        if (closed) {
            return new ZMTPSocketException(CLOSED, "the socket is closed");
        }
        return owner == null ? null : new ZMTPSocketException(STATE, "messages go to a handler");
    }

    /** Gives the first taker the first message. Called once for each taker that waits although there are messages. */
    private void serve() {
        Taker taker;
        Peer from;
        ZMTPMessage message;
        lock.lock();
        try {
            from = takers.isEmpty() ? null : line.poll();
            message = from == null ? null : queues.next(from);
            taker = message == null ? null : pollTaker();
        } finally {
            lock.unlock();
        }
        if (from != null && message != null && taker != null && !taker.take(from, message)) {
            Taker another = putBack(from, message);
            if (another != null) {
                take(another, true);
            }
        }
    }

    /** Returns the taker that has begun to wait in the meantime, for which the message is; null if there is none. */
    private @Nullable Taker putBack(Peer from, ZMTPMessage message) {
        lock.lock();
        try {
            if (!add(from, message, true)) {
                return null;
            }
            if (owner != null) { // meanwhile: it looks at the queue again
                context.execute(this::pump);
                return null;
            }
            return pollTaker();
        } finally {
            lock.unlock();
        }
    }

    /** Removes a taker that no longer wants a message. */
    public void forget(Taker taker) {
        locked(() -> takers.remove(taker));
    }

    // On the event loop

    /** Registers the receiver of all messages, until the registration is closed. From any thread. */
    public ZMTPRegistration register(Sink to) {
        context.checkOpen();
        claim(to);
        context.executeHere(() -> {
            if (owner == to) {
                begin(to);
            }
        });
        return () -> {
            if (release(to)) { // now: the caller may receive next, or register another one
                context.executeHere(() -> leave(to));
            }
        };
    }

    /**
     * Reserves the messages for a sink that is about to come, so that nothing else receives. Called from any thread.
     */
    public void claim() {
        claim(RESERVED);
    }

    private void claim(Object who) {
        lock.lock();
        try {
            if (owner != null || !takers.isEmpty()) {
                throw new IllegalStateException("messages go elsewhere (expected: one receiver at a time)");
            }
            owner = who;
            received = true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the reservation for a sink that does not come after all. Called from any thread. */
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

    /** Passes all messages to the sink, which has reserved them. Those that wait come first. */
    public void sink(Sink to) {
        owner = to;
        begin(to);
    }

    private void begin(Sink to) {
        if (closed) {
            to.closed();
            return;
        }
        sink = to;
        watch.close();
        watch = LoopWatch.watch(context.eventLoop());
        pump();
    }

    /** Removes the sink, which wants no more messages. */
    public void unsink(Sink from) {
        release(from);
        leave(from);
    }

    private void leave(Sink from) {
        if (sink == from) {
            sink = null;
            watch.close();
        }
    }

    /**
     * Takes back a message that the sink has taken, the last one first, before the sink is removed. It is received
     * next. Takes the message over.
     *
     * @return whether it is kept; false if the socket is closed
     */
    public boolean returned(Peer from, ZMTPMessage message) {
        boolean kept = locked(() -> add(from, message, true));
        if (kept) {
            from.reading();
        }
        return kept;
    }

    /** Called when the sink may want more. */
    public void pump() {
        // The first is called by a sink that has answered at once: the calls must not nest for each message.
        if (pump != Pump.IDLE) {
            return;
        }
        pump = Pump.RUNNING;
        try {
            pumpSome();
        } finally {
            pump = pump == Pump.RUNNING ? Pump.IDLE : pump;
        }
    }

    private void pumpRest() {
        pump = Pump.IDLE;
        pump();
    }

    /** Passes the sink as many messages as one task may: a sink that answers gives those that ask room for more. */
    private void pumpSome() {
        Sink to = sink;
        int left = LoopBudget.MESSAGES;
        while (to != null && to == sink && to == owner && line.mayHaveNext() && to.wants()) {
            if (left-- == 0) {
                pump = Pump.RESTING;
                context.executeAfterReads(this::pumpRest);
                return;
            }
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
                return;
            }
            hand(to, from, message);
        }
    }

    /** Gives a peer that the sink has declined turns again. Called by the sink, before it pumps. */
    public void back(Peer from) {
        lock.lock();
        try {
            line.back(from);
        } finally {
            lock.unlock();
        }
    }

    /** Called when the connection of the peer has ended. On the event loop. */
    public void down(Peer from) {
        lock.lock();
        try {
            from.memory().inbound(0);
        } finally {
            lock.unlock();
        }
    }

    /** Drops what was not taken of this peer, and returns how many messages that were. On the event loop. */
    public int drop(Peer from) {
        return discarded(from, locked(() -> queues.removeAll(from)));
    }

    /**
     * Drops the oldest messages of a peer that is not read from, as many wait, and returns how many those were. If
     * anybody has ever received here, none is dropped: they may be received next. On the event loop.
     */
    public int dropOldest(Peer from) {
        Deque<ZMTPMessage> dropped = locked(() -> received ? new ArrayDeque<>(0) : queues.removeOldest(from));
        if (!dropped.isEmpty()) {
            from.reading();
        }
        return discarded(from, dropped);
    }

    private <T> T locked(Supplier<T> action) {
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

    /** Releases what was not taken. */
    public void close() {
        Set<Taker> waiting;
        lock.lock();
        try {
            closed = true;
            queues.close();
            waiting = Set.copyOf(takers);
            takers.clear();
        } finally {
            lock.unlock();
        }
        waiting.forEach(taker -> taker.fail(new ZMTPSocketException(CLOSED, "the socket is closed")));
        Sink to = sink;
        if (to != null) {
            leave(to);
            to.closed();
        }
    }
}
