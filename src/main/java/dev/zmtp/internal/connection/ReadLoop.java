package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.InputEvent;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Passes the read data to the phase, buffer by buffer, and passes the unread rest of a phase to the next phase.
 *
 * <p><b>Budget.</b> Data that remains when the {@link ReadBudget} is spent, or that was not requested with auto-read
 * off, waits in a queue. Decoding continues when the event loop has served its other channels, or with the user's
 * {@code read()}. Until the queue is empty, {@link PacedReads} makes the transport read little or nothing, and the end
 * of the peer's input is not reported.
 *
 * <p><b>Re-entrancy.</b> A callback, such as the handler of a message, can make the transport read again. The result is
 * queued and decoded after the current buffer. Any exception while decoding ends the connection.
 */
public final class ReadLoop {

    /**
     * The number of queued bytes above which data is decoded as fast as it is read. Otherwise a transport whose reads
     * are not paced would fill the memory. That is a transport that has read before the codec was added, or that was
     * given another allocator.
     */
    private static final long MAX_QUEUED = 64 << 10;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final ReadDemand demand;
    private final ReadBudget budget;

    /** Null before the codec is added, and after its removal. */
    private @Nullable PacedReads paced;

    /** True while a buffer is being decoded, or a step of the handshake is being performed. */
    private boolean busy;

    private final ReadQueue queue = new ReadQueue();

    private boolean restScheduled;

    /**
     * The events that report the end of the peer's input, which follows the queued data. Usually there is at most one.
     */
    private final ConsistentDeque<Object> inputEnds = new ConsistentDeque<>();

    /** The transport's failure, which follows the queued data. It does not end the input: the transport closes. */
    private @Nullable IOException failure;

    /** The failure of a write, which follows the queued data. The transport's failure, if any, is its reason. */
    private @Nullable Throwable failedWrite;

    ReadLoop(Connection connection, ChannelHandlerContext ctx, ReadDemand demand) {
        this.connection = connection;
        this.ctx = ctx;
        this.demand = demand;
        this.budget = new ReadBudget(connection.config().maxFramesPerRead(), connection.nanoTime());
    }

    /**
     * Limits the reads of the transport to the speed of decoding.
     *
     * @throws IllegalStateException if the codec and the channel use different threads, because read data would wait as
     *     tasks of the codec's executor, without bound and uncounted
     */
    void pace() {
        if (ctx.executor() != ctx.channel().eventLoop()) {
            throw new IllegalStateException("executor of the codec: " + ctx.executor()
                    + " (expected: the channel's event loop; give one of their own to the handlers after the codec)");
        }
        paced = PacedReads.install(ctx.channel().config(), this);
    }

    public ReadBudget budget() {
        return budget;
    }

    /** Takes ownership of {@code in}. */
    public void read(ByteBuf in) {
        connection.memory().received(in.readableBytes());
        if (busy) {
            keep(in, false);
            return;
        }
        demand.readStarted();
        busy = true;
        try {
            if (queue.isEmpty()) {
                consume(in);
            } else {
                keep(in, false);
            }
            consumeQueue();
        } finally {
            busy = false;
        }
        if (connection.wasRemoved() && queue.isEmpty()) {
            fireInputEnds(); // the end of this read is no longer reported here
        }
        connection.phase().decoded();
        connection.memory().count();
    }

    /**
     * Like {@link #guarded}, but data that callbacks make the transport read in the meantime is decoded after the step.
     */
    void step(Runnable step) {
        if (busy) {
            guarded(step);
            return;
        }
        boolean consumed;
        busy = true;
        try {
            guarded(step);
            consumed = consumeQueue();
        } finally {
            busy = false;
        }
        connection.memory().count();
        if (consumed || !inputEnds.isEmpty()) {
            restComplete(); // the transport's own read can have completed earlier
        }
    }

    /**
     * Like {@link dev.zmtp.internal.wire.FrameReader#nextRead}. If there is a handler before the codec, it can change
     * or keep the data, so any buffer is suitable.
     */
    @Nullable
    ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        boolean isDecoded = !busy && queue.isEmpty();
        return isDecoded && ctx.pipeline().firstContext() == ctx
                ? connection.phase().nextRead(alloc, usual)
                : null;
    }

    /** Returns whether the transport may continue to read. */
    boolean mayReadOn() {
        return queue.isEmpty() && budget.hasRoom();
    }

    /** Returns the number of bytes that were read and are not decoded yet. */
    long queuedBytes() {
        return queue.bytes();
    }

    /** Returns whether too much data is queued, because the transport does not check how much to read. */
    private boolean isBehind() {
        return queue.bytes() > MAX_QUEUED && budget.isOver() && (paced == null || !paced.isAsked());
    }

    /** Maximum number of frames of a budget. */
    int maxFramesPerRead() {
        return connection.config().maxFramesPerRead();
    }

    /** Returns whether data was taken from the queue. */
    private boolean consumeQueue() {
        boolean any = false;
        while (!queue.isEmpty()) {
            if (isBehind()) {
                budget.begin();
            }
            if (!mayGoOn()) {
                break;
            }
            any = true;
            consume(Objects.requireNonNull(queue.poll()));
        }
        return any;
    }

    private void consume(ByteBuf in) {
        decode(in);
        if (!in.isReadable()) {
            in.release();
        } else if (connection.wasRemoved()) {
            ctx.fireChannelRead(in);
        } else {
            keep(in, true);
        }
    }

    /** Queues the unread part of {@code in}, before or after what is queued. */
    private void keep(ByteBuf in, boolean first) {
        try {
            if (first) {
                queue.addFirst(in, ctx.alloc());
            } else {
                queue.add(in, ctx.alloc());
            }
        } catch (Throwable e) { // the allocator is out of memory, and the missing bytes end the connection
            connection.fail(asDecoderException(e));
        }
    }

    private void decode(ByteBuf in) {
        try {
            Phase before = null;
            while (!connection.wasRemoved() && before != connection.phase() && in.isReadable() && mayGoOn()) {
                before = connection.phase();
                before.read(in);
            }
            connection.phase().compact();
        } catch (Throwable e) {
            connection.phase().readComplete(); // sends the data that the user has flushed
            connection.fail(asDecoderException(e));
            if (!connection.wasRemoved()) {
                in.skipBytes(in.readableBytes());
            }
        }
    }

    private boolean mayGoOn() {
        return connection.isClosed() || (demand.isWanted() && !budget.isOver());
    }

    // The budget

    /** Called when the transport currently has nothing more to read. */
    public void readComplete() {
        fireReadComplete();
        demand.readComplete();
        renewBudget();
    }

    /** Called when the rest was decoded without a read of the transport. */
    private void restComplete() {
        fireReadComplete();
        renewBudget();
    }

    private void fireReadComplete() {
        ctx.fireChannelReadComplete();
        connection.phase().readComplete(); // last, because a handler has usually flushed by now, with the PONGs
    }

    /** Renews the budget. The rest is decoded when other channels were served. */
    private void renewBudget() {
        budget.begin();
        demand.budgetRenewed();
        if (queue.isEmpty()) {
            caughtUp();
        } else if (demand.isWanted()) {
            scheduleRest();
        }
    }

    /** Continues with a non-empty queue, as requested by the user's read. Returns whether that is the whole read. */
    boolean readFromQueue() {
        if (queue.isEmpty()) {
            return false;
        }
        scheduleRest();
        return !demand.isAutoRead(); // auto-read belongs to the transport; io_uring might not read again without it
    }

    private void scheduleRest() {
        if (restScheduled) {
            return;
        }
        try {
            // Not execute, because an event loop runs the tasks of its tasks before it checks its channels again.
            ctx.executor().schedule(this::decodeRest, 0, TimeUnit.NANOSECONDS);
            restScheduled = true;
        } catch (RejectedExecutionException e) {
            ctx.close(); // the event loop is terminating
        }
    }

    private void decodeRest() {
        restScheduled = false;
        if (queue.isEmpty() || busy || !demand.isWanted()) {
            return; // a read of the transport has decoded the rest, or will decode it
        }
        demand.readStarted();
        busy = true;
        try {
            consumeQueue();
        } finally {
            busy = false;
        }
        connection.memory().count();
        restComplete();
    }

    private void caughtUp() {
        fireFailure();
        if (!inputEnds.isEmpty()) {
            fireInputEnds();
            inputEnded();
        }
        demand.readOn();
    }

    // The end

    /** Notes the end of the peer's input, reported by {@code event}, which can be a failure. */
    public void endInput(Object event) {
        inputEnds.add(event);
        if (queue.isEmpty() && !busy) { // otherwise the loop reports it when it has caught up
            fireInputEnds();
            inputEnded();
        }
    }

    /** Passes on a failure of the transport or of a handler before the codec. */
    public void failed(Throwable cause) {
        if (failure == null && cause instanceof IOException ofTransport && !queue.isEmpty()) {
            failure = ofTransport;
        } else {
            connection.phase().exceptionCaught(cause);
        }
    }

    /**
     * Passes on the failure of a write, for which the user can close the channel. If the transport has closed, data
     * that was read before comes first, because the peer has sent it before the end that has failed the write.
     */
    public void writeFailed(Throwable cause) {
        if (ctx.channel().isActive() || (queue.isEmpty() && !busy)) {
            connection.reports().voidWriteFailed(cause);
        } else if (failedWrite == null) {
            failedWrite = cause;
        }
    }

    private void fireFailure() {
        IOException waiting = failure;
        Throwable ofWrite = failedWrite;
        failure = null;
        failedWrite = null;
        if (waiting != null) {
            fire(waiting);
        } else if (ofWrite != null && (!connection.isClosed() || connection.wasRemoved())) {
            connection.reports().voidWriteFailed(ofWrite);
        }
    }

    private void fire(Throwable cause) {
        if (connection.wasRemoved()) {
            ctx.fireExceptionCaught(cause);
        } else {
            connection.phase().exceptionCaught(cause);
        }
    }

    private void fireInputEnds() {
        fireFailure();
        for (Object event = inputEnds.poll(); event != null; event = inputEnds.poll()) {
            if (event instanceof InputEvent.Failure ended) {
                fire(ended.cause());
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }
    }

    private void inputEnded() {
        if (!connection.wasRemoved()) { // otherwise the next handler owns the rest of the connection
            connection.phase().inputEnded();
        }
    }

    /** Decodes all data that was read, because the channel is closed and nothing follows. */
    void finish() {
        if (busy) {
            return;
        }
        while (!queue.isEmpty() && !connection.isClosed()) {
            demand.finish();
            budget.begin();
            busy = true;
            try {
                consumeQueue();
            } finally {
                busy = false;
            }
            restComplete();
        }
        fireFailure(); // of a write in the last callback
    }

    /** Called when the codec is no longer in the pipeline. */
    void removed() {
        if (paced != null) {
            paced.uninstall(ctx.channel().config(), this);
            paced = null;
        }
    }

    /** Passes all data that was read to the next handler, because the codec was removed. */
    void passOn() {
        if (busy || queue.isEmpty()) {
            return; // the running call does it
        }
        for (ByteBuf next = queue.poll(); next != null; next = queue.poll()) {
            ctx.fireChannelRead(next);
        }
        ctx.fireChannelReadComplete();
        fireInputEnds();
    }

    /** Releases all data that was read. */
    void clear() {
        queue.clear();
        inputEnds.clear();
        failure = null;
        failedWrite = null;
    }

    /** Performs a step of the handshake. */
    void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            connection.fail(asDecoderException(e));
        }
    }

    /** Adds the peer's address, because the log line is often the only information that an operator has. */
    private DecoderException asDecoderException(Throwable e) {
        String peer = connection.session().peer();
        if (e instanceof ZMTPException fault) {
            return new ZMTPException(fault.code(), fault.getMessage() + ", peer " + peer, fault.getCause());
        }
        return e instanceof DecoderException known ? known : new DecoderException("peer " + peer + ": " + e, e);
    }
}
