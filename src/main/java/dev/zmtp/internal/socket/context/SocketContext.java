package dev.zmtp.internal.socket.context;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.memory.MemoryAccount;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.internal.runtime.LoopHooks;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.internal.transport.QueueLimit;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The settings, event loop, clock, counters and state of a socket, shared by all its parts. */
public final class SocketContext {

    private final ZMTPSocketConfig config;
    private final EventLoop eventLoop;
    private final Surroundings surroundings;
    private final Function<MessageCounts, ZMTPStats> stats;
    private final SocketEvents events;
    private final Tally tally = new Tally();
    private final Drops drops;
    private final PendingFlushes flushes;
    private final Completions completions;
    private final RequestObservers requestObservers;
    private final boolean namesPeers;
    private final AtomicInteger numbers = new AtomicInteger();
    private final long maxMessageAgeNanos;
    private final MessageAges messageAges;
    private volatile QueueLimit sendQueueLimit;
    private volatile @Nullable MemoryLedger ledger;

    /** True once the socket accepts no more messages. */
    private volatile boolean closed;

    /** True once all accepted messages have been sent or have failed. */
    private volatile boolean finished;

    // On the event loop
    private ByteBufAllocator allocator = UnpooledByteBufAllocator.DEFAULT;
    private final Runnable timeEnds = this::endTime;
    private boolean isTimed;

    private long taskTime;
    private Runnable whenCapacity = () -> {};
    private Runnable whenSettled = () -> {};

    @SuppressWarnings("this-escape") // the parts use it later
    public SocketContext(
            ZMTPSocketConfig config,
            EventLoop eventLoop,
            Surroundings surroundings,
            Function<MessageCounts, ZMTPStats> stats) {
        this.config = config;
        this.stats = stats;
        this.events = new SocketEvents(surroundings::currentNanos);
        this.drops = new Drops(this);
        this.flushes = new PendingFlushes(this);
        this.completions = new Completions(this);
        this.requestObservers = new RequestObservers(config.socketType(), surroundings::currentNanos);
        this.eventLoop = eventLoop;
        this.surroundings = surroundings;
        this.namesPeers = TypeRules.namesPeers(config.socketType());
        this.maxMessageAgeNanos = Settings.nanos(config.maxMessageAge());
        this.messageAges = new MessageAges(this, maxMessageAgeNanos);
        this.sendQueueLimit = effective(SocketValues.limitOfSends(config));
    }

    /** Sets the callbacks for when there might be room for messages, and for when the fate of all messages is known. */
    public void when(Runnable capacity, Runnable settled) {
        whenCapacity = capacity;
        whenSettled = settled;
    }

    public ZMTPSocketConfig config() {
        return config;
    }

    public ZMTPSocketType type() {
        return config.socketType();
    }

    public boolean namesPeers() {
        return namesPeers;
    }

    public long maxMessageAgeNanos() {
        return maxMessageAgeNanos;
    }

    public MessageAges messageAges() {
        return messageAges;
    }

    /** Returns the time from which the age of a message counts; 0 if the age has no limit. From any thread. */
    public long birthTime() {
        return maxMessageAgeNanos == Long.MAX_VALUE ? 0 : nanoTime();
    }

    /** Returns whether a message with this birth time has waited for too long. */
    public boolean isTooOld(long birthTime) {
        return maxMessageAgeNanos != Long.MAX_VALUE && nanoTime() - birthTime > maxMessageAgeNanos;
    }

    /** Counts and releases a message that has waited for too long, and fails its result. On the event loop. */
    public void expire(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        tally.dropped();
        if (result == null) {
            drops.dropped(null, DropReason.EXPIRED, 1);
        }
        completions.reject(message, result, ZMTPSocketException.Reason.EXPIRED, tooOld());
    }

    /** Returns the text of the failure of a message that has waited for too long. */
    public String tooOld() {
        return "it has waited for longer than " + config.maxMessageAge();
    }

    /** Returns whether a filter decides which topics a peer gets. It can refuse them to the next at its endpoint. */
    public boolean filtersTopics() {
        return TypeRules.publishes(type()) && config.subscriptionFilter() != null;
    }

    /**
     * Returns whether a new message makes room among all messages of the socket by dropping the oldest. Those of types
     * that address their peers can be for another peer.
     */
    public boolean keepsNewest() {
        boolean isAddressed = namesPeers || type() == ZMTPSocketType.REP;
        return !isAddressed && TypeRules.keepsNewest(config.overflowPolicy());
    }

    /** Returns whether messages for a peer wait for its next connection. */
    public boolean queuesWhileDown() {
        return config.queueWhileDown() && !filtersTopics();
    }

    /** Returns the ledger of the socket's memory budget. From any thread. */
    public MemoryLedger ledger() {
        MemoryLedger its = ledger;
        if (its == null) { // only a session knows the ledger of its budget
            its = ((MemoryAccount.Owner) ZMTPSession.from(config.codec())).ledger();
            ledger = its;
        }
        return its;
    }

    private QueueLimit effective(QueueLimit limit) {
        return config.overflowPolicy() == OverflowPolicy.KEEP_LATEST ? new QueueLimit(1, limit.bytes()) : limit;
    }

    /** Limit of the messages queued for a single peer. */
    public QueueLimit sendQueueLimit() {
        return sendQueueLimit;
    }

    /** Returns the limit that takes effect with this setting. */
    public QueueLimit sendQueueLimit(QueueLimit limit) {
        sendQueueLimit = effective(limit);
        return sendQueueLimit;
    }

    public SocketEvents events() {
        return events;
    }

    /**
     * Reports the event. On the event loop, this happens after earlier results there, such as those of sends, have been
     * reported.
     */
    public void fire(ZMTPSocketEvent event) {
        Flight.fired(type(), event);
        if (inEventLoop()) {
            completions.after(() -> events.fire(event));
        } else {
            events.fire(event);
        }
    }

    /** Reports the event like {@link #fire}, but calls no listener now, in the middle of a send. On the event loop. */
    public void fireLater(ZMTPSocketEvent event) {
        if (events.areHeard()) {
            Flight.fired(type(), event);
            completions.later(() -> events.fire(event), false);
        } else {
            fire(event);
        }
    }

    public Tally tally() {
        return tally;
    }

    /** Returns these counts in the form for the application. */
    public ZMTPStats stats(MessageCounts counts) {
        return stats.apply(counts);
    }

    /** Reporter of dropped messages. */
    public Drops drops() {
        return drops;
    }

    /** Connections with unflushed writes. On the event loop. */
    public PendingFlushes flushes() {
        return flushes;
    }

    /** Completer of the application's futures. */
    public Completions completions() {
        return completions;
    }

    public RequestObservers requestObservers() {
        return requestObservers;
    }

    // The end

    public boolean isClosed() {
        return closed;
    }

    public void close() {
        closed = true;
    }

    public boolean isFinished() {
        return finished;
    }

    public void finish() {
        finished = true;
    }

    public void checkOpen() {
        if (closed) {
            throw new ZMTPSocketException(CLOSED, "the socket is closed");
        }
    }

    /**
     * Counts and releases a message that reaches no peer, and fails its result. If there is no result, the event
     * {@code Dropped} reports the drop, unless the application has closed the socket. From any thread.
     *
     * @param peer the peer that the message was for; null if it was for no particular peer
     */
    public void drop(
            @Nullable ZMTPPeer peer,
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            ZMTPSocketException.Reason reason,
            String text) {
        tally.dropped();
        if (result == null && reason != CLOSED) {
            DropReason full = keepsNewest() ? DropReason.REPLACED : DropReason.FULL;
            drops.droppedAnywhere(peer, reason == FULL ? full : DropReason.PEER_DOWN);
        }
        completions.reject(message, result, reason, text);
    }

    // Execution

    public EventLoop eventLoop() {
        return eventLoop;
    }

    public boolean inEventLoop() {
        return eventLoop.inEventLoop();
    }

    public ByteBufAllocator allocator() {
        return allocator;
    }

    public void allocator(ByteBufAllocator ofChannels) {
        allocator = ofChannels;
    }

    /** Returns the next number of the socket, on any thread. */
    public int nextNumber() {
        return numbers.incrementAndGet();
    }

    /** Returns a random number, on any thread. */
    public long random() {
        return surroundings.random();
    }

    public long nanoTime() {
        return surroundings.currentNanos();
    }

    /** Runs the task later, unless the event loop has ended. */
    public void execute(Runnable task) {
        tryExecute(task);
    }

    public boolean tryExecute(Runnable task) {
        try {
            LoopHooks.execute(eventLoop, task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /**
     * Runs the task later, unless it is scheduled. Returns false if the event loop has ended.
     *
     * @param scheduled whether it is, which the task resets. It remains false if the event loop does not take the task,
     *     also because there is no memory for it
     */
    public boolean executeOnce(AtomicBoolean scheduled, Runnable task) {
        if (scheduled.get() || !scheduled.compareAndSet(false, true)) {
            return true;
        }
        boolean isTaken = false;
        try {
            isTaken = tryExecute(task);
            return isTaken;
        } finally {
            if (!isTaken) {
                scheduled.set(false);
            }
        }
    }

    /**
     * Runs the task on the event loop, at once if this is its thread. If the event loop ends before the task has run,
     * the task runs after the end of the loop, when nothing else runs.
     */
    public void executeAnyway(Runnable task) {
        if (inEventLoop()) {
            task.run();
        } else {
            executeLaterAnyway(task);
        }
    }

    /** Like {@link #executeAnyway}, but never at once, for tasks that must not run in the middle of a call. */
    public void executeLaterAnyway(Runnable task) {
        if (!tryExecute(task)) {
            eventLoop.terminationFuture().addListener(f -> task.run());
        }
    }

    /**
     * Runs the rest of a long task after the event loop has read and written in between, see {@link AfterReads}. Like
     * {@link #executeAnyway}, the rest runs even if the event loop ends first. On the event loop.
     */
    public void executeAfterReads(Runnable rest) {
        boolean isTaken = AfterReads.submit(eventLoop, () -> {
            try {
                executeLaterAnyway(rest);
            } catch (Throwable e) { // there is no memory for the task, and nobody would run it later
                rest.run();
            }
        });
        if (!isTaken) {
            executeLaterAnyway(rest);
        }
    }

    /** Runs the task at once if this is the event loop's thread. Otherwise, it runs there later. */
    public void executeHere(Runnable task) {
        if (inEventLoop()) {
            task.run();
        } else {
            execute(task);
        }
    }

    /** Schedules a task, or returns null if the event loop is ending, because the socket ends with it. */
    public @Nullable ScheduledFuture<?> schedule(Runnable task, long nanos) {
        if (eventLoop.isShuttingDown()) { // to cancel the timer after the end of the loop would throw
            return null;
        }
        try {
            return eventLoop.schedule(task, nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    /** Returns a log of what peers can cause without bound, such as failures of the application's code. */
    public RateLimitedLog warnings(InternalLogger logger) {
        return new RateLimitedLog(logger, InternalLogLevel.WARN, this::nanoTime);
    }

    // On the event loop

    /**
     * Returns the time of the first such call in this task of the event loop, because reading the clock takes half as
     * long as queuing a message.
     */
    public long taskTime() {
        if (!isTimed) {
            taskTime = nanoTime();
            isTimed = tryExecute(timeEnds);
        }
        return taskTime;
    }

    private void endTime() {
        isTimed = false;
    }

    /** Called when there might be room for waiting messages. */
    public void capacityFreed() {
        whenCapacity.run();
    }

    /** Called when the fate of messages has become known, possibly that of all messages. */
    public void settled() {
        if (tally.unconfirmed() == 0) {
            whenSettled.run();
        }
    }
}
