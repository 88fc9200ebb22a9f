package dev.zmtp.internal.transport;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPSizeEstimator;
import dev.zmtp.internal.runtime.AfterReads;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.LoopHooks;
import dev.zmtp.internal.runtime.MessageRefusal;
import dev.zmtp.internal.runtime.TransportCounts;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.util.IllegalReferenceCountException;
import java.lang.invoke.VarHandle;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection within the process, on event loops of any transport. Written messages are passed by reference
 * through a bounded ring to the event loop of the other end, and bytes as copies. What finds no room stays in the
 * outbound buffer, whose water marks stop the writer.
 */
final class InprocChannel extends AbstractChannel implements TransportCounts {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false);

    private static final int ALL = Integer.MAX_VALUE;

    /** Number of messages after which a read tells a writer that waits for room, so that both work at once. */
    private static final int WAKE = 256;

    private enum State {
        NEW,
        CONNECTED,
        CLOSED
    }

    private final ChannelConfig config = new Config();
    private final Runnable readTask = this::readSome;
    private final Runnable flushTask = this::flushAgain;
    private final Runnable loopEnds = LoopHooks.closing(this);

    /** Messages that arrive at this end. */
    private final InprocRing inbound;

    /** True if a read of this end is scheduled, or is about to check the ring. */
    private final AtomicBoolean reading = new AtomicBoolean();

    private volatile State state = State.NEW;
    private volatile @Nullable InprocChannel other;
    private volatile @Nullable SocketAddress local;
    private volatile @Nullable SocketAddress remote;

    // On the event loop
    private boolean readPending;

    private final ReadPauses pauses = new ReadPauses();

    /** True if messages were passed to the other end, which has not been told. */
    private boolean passed;

    /** True if the other end has closed. */
    private boolean otherGone;

    private @Nullable Listener counts;

    InprocChannel(QueueLimit limit) {
        this(null, limit);
    }

    private InprocChannel(@Nullable InprocServerChannel parent, QueueLimit limit) {
        super(parent);
        this.inbound = new InprocRing(limit);
        config.setMessageSizeEstimator(ZMTPSizeEstimator.INSTANCE);
    }

    /** Returns the accepted end of a connection of {@code client}. */
    static InprocChannel accepted(InprocServerChannel parent, InprocChannel client, QueueLimit limit) {
        InprocChannel accepted = new InprocChannel(parent, limit);
        accepted.local = parent.localAddress();
        accepted.remote = client.localAddress();
        accepted.other = client;
        accepted.state = State.CONNECTED;
        return accepted;
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        return state == State.CONNECTED;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return remote;
    }

    @Override
    protected void doBind(SocketAddress address) {
        throw new UnsupportedOperationException("bind: a client has no address of its own");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    // Outbound

    @Override
    protected Object filterOutboundMessage(Object msg) {
        return msg;
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
        InprocChannel to = other;
        if (to == null || !to.isOpen()) {
            if (otherGone) { // otherwise this end is about to learn of it
                runThere(this::readAllAndClose);
            }
            return;
        }
        int left = LoopBudget.MESSAGES;
        try {
            for (Object msg = out.current(); msg != null; msg = out.current()) {
                if (left == 0) { // the other end reads in the meantime, and the written messages can lead to more
                    flushAfterReads();
                    break;
                }
                long accepted;
                try {
                    accepted = InprocWrite.offer(to.inbound, msg, alloc());
                } catch (IllegalReferenceCountException e) { // released by its sender
                    out.remove(MessageRefusal.of(e, true));
                    continue;
                }
                if (accepted == InprocWrite.NO_ROOM) {
                    break;
                }
                left--;
                if (msg instanceof ZMTPMessage && counts != null) {
                    counts.written(1);
                }
                InprocWrite.remove(out, msg, accepted);
            }
        } finally { // an allocator can throw
            if (left < LoopBudget.MESSAGES) {
                arrived(to);
            }
        }
    }

    /** Called after messages were added to the ring of the other end. */
    private static void arrived(InprocChannel to) {
        to.wake();
        VarHandle.fullFence();
        if (!to.isOpen()) { // it has emptied its ring, perhaps before these messages were added
            to.inbound.clear();
        }
    }

    /**
     * Passes a message to the other end if no other write waits and there is room. The outbound buffer would take an
     * entry, a size and two more counts of references for it. Takes ownership of the message if it returns true.
     */
    boolean pass(ZMTPMessage message) {
        InprocChannel to = other;
        ChannelOutboundBuffer waiting = unsafe().outboundBuffer();
        if (to == null || waiting == null || waiting.totalPendingWriteBytes() > 0 || !isActive() || otherGone) {
            return false;
        }
        if (message.refCnt() == 0) { // released by its sender, whose write fails, and not the read of the other end
            return false;
        }
        if (!to.inbound.offer(message, message.readableBytes())) {
            return false;
        }
        passed = true;
        if (counts != null) {
            counts.written(1);
        }
        return true;
    }

    /** Announces passed messages to the other end. */
    void flushPassed() {
        InprocChannel to = other;
        if (passed && to != null) {
            passed = false;
            arrived(to);
        }
    }

    @Override
    public void listen(Listener listener) {
        counts = listener;
    }

    private void flushAfterReads() {
        AfterReads.run(eventLoop(), () -> runThere(flushTask));
    }

    private void flushAgain() {
        unsafe().flush();
    }

    // Inbound

    @Override
    protected void doBeginRead() {
        readPending = true;
        if (!inbound.isEmpty() || otherGone) {
            wake();
        }
    }

    /** Called when there is a message to read, from any thread. */
    private void wake() {
        VarHandle.fullFence(); // either we see the reader stop, or it sees the written message
        if (!reading.get() && reading.compareAndSet(false, true)) {
            scheduleRead();
        }
    }

    private void scheduleRead() {
        try {
            LoopHooks.execute(eventLoop(), readTask);
        } catch (RejectedExecutionException e) { // it has ended
            reading.set(false);
        } catch (Error e) { // there is no memory for the task
            reading.set(false);
            throw e;
        } catch (IllegalStateException e) { // it is not registered; it checks the ring when it is
            reading.set(false);
            if (isRegistered()) { // in the meantime, and saw that a read was scheduled
                wake();
            }
        }
    }

    /** Reads, after the event loop has read from its other channels if this channel has read much in the meantime. */
    private void readSome() {
        if (pauses.isDue() && AfterReads.submit(eventLoop(), this::readAfterPause)) {
            return;
        }
        reading.set(false); // first, so that later writes wake it again
        VarHandle.fullFence();
        if (readPending && isActive()) {
            read(LoopBudget.MESSAGES);
            if (inbound.isEmpty()) {
                closeIfOtherGone();
            } else if (readPending) {
                wake();
            }
        }
    }

    private void readAfterPause() {
        pauses.paused();
        scheduleRead();
    }

    private void read(int most) {
        long bytes = 0;
        int messages = 0;
        readPending = false;
        for (Object msg = inbound.poll(); msg != null; msg = inbound.poll()) {
            bytes += InprocRing.sizeOf(msg);
            pipeline().fireChannelRead(msg);
            if (++messages % WAKE == 0) {
                freed(bytes);
                bytes = 0;
            }
            if (messages == most || (most != ALL && !config.isAutoRead()) || !isOpen()) {
                break;
            }
        }
        pauses.messagesRead(messages);
        freed(bytes);
        if (messages > 0) {
            pipeline().fireChannelReadComplete();
        } else {
            readPending = true;
        }
    }

    /** Called after bytes were taken from the ring, in which the other end might wait for room. */
    private void freed(long bytes) {
        InprocChannel from = other;
        if (inbound.freeAndWake(bytes) && from != null) {
            from.runThere(from.flushTask);
        }
    }

    private void runThere(Runnable task) {
        try {
            LoopHooks.execute(eventLoop(), task);
        } catch (RejectedExecutionException | IllegalStateException e) {
            // Its event loop has ended, or has not begun, so no task is needed.
        }
    }

    // The end

    @Override
    @SuppressWarnings("deprecation") // its successor is in Netty 4.2 only
    protected void doRegister() {
        LoopHooks.add(eventLoop(), loopEnds);
        InprocChannel client = other;
        if (client != null && !client.isOpen()) { // it could not report that to an end without an event loop
            runThere(this::otherClosed);
        }
    }

    @Override
    protected void doClose() {
        if (isRegistered()) {
            LoopHooks.remove(eventLoop(), loopEnds);
        }
        state = State.CLOSED;
        InprocChannel peer = other;
        if (peer != null) {
            flushPassed();
            peer.runThere(peer::otherClosed);
        }
        inbound.clear();
    }

    /** Called if a write fails. No half of the channel remains, and the default would tell no handler of the end. */
    @Override
    protected void doShutdownOutput() {
        unsafe().close(voidPromise());
    }

    void cut() {
        InprocChannel peer = other;
        if (peer != null) {
            peer.inbound.clear();
        }
        unsafe().close(voidPromise());
    }

    /**
     * Messages that have arrived are read first, when this end wants to read. If it writes instead, it learns of the
     * end, as with a connection over a network.
     */
    private void otherClosed() {
        ChannelOutboundBuffer waiting = unsafe().outboundBuffer();
        otherGone = true;
        boolean writes = waiting != null && waiting.totalPendingWriteBytes() > 0;
        if (writes || eventLoop().isShuttingDown()) {
            readAllAndClose();
        } else if (inbound.isEmpty()) {
            closeIfOtherGone();
        }
    }

    private void closeIfOtherGone() {
        if (otherGone && isActive()) {
            LoopHooks.close(this);
        }
    }

    private void readAllAndClose() {
        if (isActive()) {
            read(ALL);
            closeIfOtherGone();
        }
    }

    @Override
    protected void doDeregister() {
        if (isOpen()) {
            unsafe().close(voidPromise());
        }
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new InprocUnsafe();
    }

    private final class Config extends DefaultChannelConfig {
        Config() {
            super(InprocChannel.this);
        }

        @Override
        protected void autoReadCleared() {
            if (isRegistered() && eventLoop().inEventLoop()) {
                readPending = false;
            }
        }
    }

    private final class InprocUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress server, @Nullable SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            local = new InprocAddress("#" + id().asShortText());
            InprocServerChannel found = InprocServerChannel.at(server);
            InprocChannel accepted = found == null ? null : found.accept(InprocChannel.this);
            if (accepted == null) {
                safeSetFailure(promise, new ConnectException(server + ": nobody is bound to this name"));
                closeIfClosed();
                return;
            }
            remote = server;
            other = accepted;
            state = State.CONNECTED;
            safeSetSuccess(promise);
            pipeline().fireChannelActive();
        }
    }
}
