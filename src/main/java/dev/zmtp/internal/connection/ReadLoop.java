package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.wire.Retention;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;
import java.util.ArrayDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Gives what was read to the phase, one buffer after the other, and passes what one phase leaves unread to the next.
 *
 * <p><b>Budget.</b> What is left when the {@link ReadBudget} is spent, or was not asked for with auto-read off, waits
 * in a queue. It goes on when the event loop has served its other channels, or with the user's {@code read()}.
 * Until the queue is empty, {@link PacedReads} has the transport read little or nothing, and the end of the peer's
 * input is not reported.
 *
 * <p><b>Re-entrancy.</b> A callback, such as the handler of a message, can make the transport read again. What that
 * brings is queued and decoded after the current buffer. Any exception while decoding ends the connection.
 */
public final class ReadLoop {

    /**
     * If more than this waits, it is decoded as fast as it is read. A transport whose reads are not paced would
     * otherwise fill the memory: one that has read before the codec was added, or that was given another allocator.
     */
    private static final long MAX_QUEUED = 64 << 10;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final ReadDemand demand;
    private final ReadBudget budget;

    /** Null before the codec is added, and after its removal. */
    private @Nullable PacedReads paced;

    /** A buffer is being decoded, or a step of the handshake is being made. */
    private boolean busy;

    private final ArrayDeque<ByteBuf> queue = new ArrayDeque<>(0);

    /** The readable bytes of the queue. */
    private long queued;

    private boolean restScheduled;

    /** The events that report the end of the peer's input, which is after what is in the queue; mostly none or one. */
    private final ArrayDeque<Object> inputEnds = new ArrayDeque<>(0);

    ReadLoop(Connection connection, ChannelHandlerContext ctx, ReadDemand demand) {
        this.connection = connection;
        this.ctx = ctx;
        this.demand = demand;
        this.budget = new ReadBudget(connection.config().maxFramesPerTurn(), connection.nanoTime());
    }

    /**
     * Has the transport read no faster than is decoded.
     *
     * @throws IllegalStateException if the two are on different threads: what the transport reads would wait, without
     *     bound and uncounted, as tasks of the codec's executor
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

    /** Takes over {@code in}. */
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
            fireInputEnds(); // the end of this read does not come here any more
        }
        connection.phase().decoded();
        connection.memory().count();
    }

    /** As {@link #guarded}; what callbacks make the transport read meanwhile comes after the step. */
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
            restComplete(); // that of the transport may have come before
        }
    }

    /**
     * As {@link dev.zmtp.internal.wire.FrameReader#nextRead}. A handler before the codec may change what is read, or
     * keep it, so then any buffer will do.
     */
    @Nullable
    ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        boolean isDecoded = !busy && queue.isEmpty();
        return isDecoded && ctx.pipeline().firstContext() == ctx
                ? connection.phase().nextRead(alloc, usual)
                : null;
    }

    /** Returns whether the transport may read on. */
    boolean mayReadOn() {
        return queue.isEmpty() && budget.hasRoom();
    }

    /** The bytes that were read and are not decoded yet. */
    long queuedBytes() {
        return queued;
    }

    /** Whether too much waits, as the transport does not ask how much to read. */
    private boolean isBehind() {
        return queued > MAX_QUEUED && budget.isOver() && (paced == null || !paced.isAsked());
    }

    /** Maximum number of frames of a budget. */
    int maxFramesPerTurn() {
        return connection.config().maxFramesPerTurn();
    }

    /** Returns whether anything was taken from the queue. */
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
            ByteBuf next = queue.poll();
            queued -= next.readableBytes();
            consume(next);
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

    /** Puts what is unread of {@code in} into the queue: a copy, if that is much less than the buffer. */
    private void keep(ByteBuf in, boolean first) {
        ByteBuf waiting = in;
        if (!Retention.isWorthKeeping(in, in.readableBytes())) {
            try {
                waiting = ctx.alloc().buffer(in.readableBytes()).writeBytes(in);
            } catch (Throwable e) { // the allocator has no more memory, and bytes that are missing end the connection
                connection.fail(asDecoderException(e));
                return;
            } finally {
                in.release();
            }
        }
        queued += waiting.readableBytes();
        if (first) {
            queue.addFirst(waiting);
        } else {
            queue.add(waiting);
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
            connection.phase().readComplete(); // what the user has flushed leaves
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

    /** The transport has nothing more to read for now. */
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
        connection.phase().readComplete(); // last: mostly a handler has flushed by now, and PONGs have left with that
    }

    /** The budget is spent: the rest is decoded when others were served. */
    private void renewBudget() {
        budget.begin();
        demand.budgetRenewed();
        if (queue.isEmpty()) {
            caughtUp();
        } else if (demand.isWanted()) {
            scheduleRest();
        }
    }

    /** Goes on with the queue, if there is one, as the user's read asks for. Returns whether that is the whole read. */
    boolean readFromQueue() {
        if (queue.isEmpty()) {
            return false;
        }
        scheduleRest();
        return !demand.isAutoRead(); // auto-read is the transport's: one of io_uring may not read again if it is held
    }

    private void scheduleRest() {
        if (restScheduled) {
            return;
        }
        try {
            // Not execute: an event loop runs the tasks of its tasks before it looks at its channels again.
            ctx.executor().schedule(this::decodeRest, 0, TimeUnit.NANOSECONDS);
            restScheduled = true;
        } catch (RejectedExecutionException e) {
            ctx.close(); // the event loop is ending
        }
    }

    private void decodeRest() {
        restScheduled = false;
        if (queue.isEmpty() || busy || !demand.isWanted()) {
            return; // a read of the transport has decoded the rest, or will
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
        if (!inputEnds.isEmpty()) {
            fireInputEnds();
            inputEnded();
        }
        demand.readOn();
    }

    // The end

    /** The peer's input has ended, as {@code event} reports. */
    public void endInput(Object event) {
        inputEnds.add(event);
        if (queue.isEmpty() && !busy) { // a read of the transport that it comes from will be complete
            fireInputEnds();
            inputEnded();
        }
    }

    private void fireInputEnds() {
        for (Object event = inputEnds.poll(); event != null; event = inputEnds.poll()) {
            ctx.fireUserEventTriggered(event);
        }
    }

    private void inputEnded() {
        if (!connection.wasRemoved()) { // otherwise the rest of the connection is the next handler's
            connection.phase().inputEnded();
        }
    }

    /** Decodes all that was read, as nothing follows: the channel is closed. */
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
    }

    /** The codec is no longer in the pipeline. */
    void removed() {
        if (paced != null) {
            paced.uninstall(ctx.channel().config(), this);
            paced = null;
        }
    }

    /** Passes all that was read to the next handler: the codec was removed. */
    void passOn() {
        if (busy || queue.isEmpty()) {
            return; // the one that is busy does it
        }
        for (ByteBuf next = queue.poll(); next != null; next = queue.poll()) {
            ctx.fireChannelRead(next);
        }
        queued = 0;
        ctx.fireChannelReadComplete();
        fireInputEnds();
    }

    /** Releases all that was read. */
    void clear() {
        queue.forEach(ByteBuf::release);
        queue.clear();
        queued = 0;
        inputEnds.clear();
    }

    /** Makes a step of the handshake. */
    void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            connection.fail(asDecoderException(e));
        }
    }

    /** Adds the peer's address: often the log line is all that an operator has. */
    private DecoderException asDecoderException(Throwable e) {
        String peer = connection.session().peer();
        if (e instanceof ZMTPException fault) {
            return new ZMTPException(fault.code(), fault.getMessage() + ", peer " + peer, fault.getCause());
        }
        return e instanceof DecoderException known ? known : new DecoderException("peer " + peer + ": " + e, e);
    }
}
