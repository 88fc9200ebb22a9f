package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.util.internal.StringUtil;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection through memory that two processes of one machine share. It stands where a socket does: on the same event
 * loops, with the same pipeline, promises and writability.
 *
 * <p>A client connects to the {@link SharedMemoryAddress} of a {@link SharedMemoryServerChannel}. Only one of the user
 * who runs the server can: the file that is shared has the mode 0600, and a client uses no other user's.
 *
 * <p>A write is complete when it is in the ring, as it is with a socket when the kernel has it. What is in the ring
 * when one side is closed or killed is still delivered to the other, and then its channel becomes inactive. What the
 * other writes meanwhile fails then, or as soon as it is not writable and does not read.
 *
 * <p>It stays on its event loop: to deregister it is to close it.
 *
 * <p>The side that waits spins for a moment and then sleeps until the other one rings: see
 * {@link SharedMemoryChannelOption#SPIN_MICROS}. An idle connection costs no CPU time.
 */
public final class SharedMemoryChannel extends AbstractChannel {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    private enum State {
        OPEN,
        CONNECTED,
        CLOSED
    }

    private final SharedMemoryConfig config = new SharedMemoryConfig(this);

    /** The Unix domain socket. */
    private final Channel socket;

    private final Function<String, SocketAddress> addresses;
    private final boolean isServer;

    private volatile State state = State.OPEN;
    private volatile @Nullable SharedMemoryAddress local;
    private volatile @Nullable SharedMemoryAddress remote;

    private final PendingConnect connecting = new PendingConnect(this);

    /** Null before both have met, and after the end. */
    private @Nullable RingPair rings;

    private final RingTurns turns = new RingTurns(this, this::turn);
    private boolean readPending;

    /** What is to come next is decided at the end of the turn. */
    private boolean inTurn;

    /** There is more to write than there was room for. */
    private boolean writeBlocked;

    private boolean peerGone;

    /** A client on event loops of NIO. */
    public SharedMemoryChannel() {
        this(NioDomainSocketChannel::new, UnixDomainSocketAddress::of);
    }

    /**
     * A client on event loops of another transport, such as
     * {@code new SharedMemoryChannel(EpollDomainSocketChannel::new, DomainSocketAddress::new)}.
     *
     * @param sockets makes a Unix domain socket of that transport
     * @param addresses makes the address of one from its path
     */
    public SharedMemoryChannel(Supplier<? extends Channel> sockets, Function<String, SocketAddress> addresses) {
        this(null, sockets.get(), addresses);
    }

    /** The end of a server that has accepted {@code socket}. */
    SharedMemoryChannel(SharedMemoryServerChannel parent, Channel socket) {
        this(parent, socket, path -> {
            throw new AlreadyConnectedException();
        });
        local = parent.localAddress();
    }

    private SharedMemoryChannel(
            @Nullable SharedMemoryServerChannel parent, Channel socket, Function<String, SocketAddress> addresses) {
        super(parent);
        this.socket = socket;
        this.addresses = addresses;
        this.isServer = parent != null;
    }

    @Override
    public SharedMemoryConfig config() {
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
    protected AbstractUnsafe newUnsafe() {
        return new SharedMemoryUnsafe();
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true; // if not, the socket says so when it is registered
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

    // Meeting

    @Override
    @SuppressWarnings("deprecation") // what takes its place is not in Netty 4.1
    protected void doRegister() throws Exception {
        if (socket.isRegistered()) {
            return;
        }
        socket.pipeline().addLast(isServer ? Meeting.ofServer(this) : Meeting.ofClient(this));
        ChannelFuture registered = eventLoop().register(socket);
        if (registered.cause() instanceof Exception cause) {
            throw cause;
        }
        if (isServer) {
            connecting.startTimeout();
        }
    }

    /** The socket, its events and the turns belong to one event loop, so a channel that leaves it ends. */
    @Override
    protected void doDeregister() {
        if (isOpen()) {
            unsafe().close(voidPromise());
        }
    }

    /** Both sides have mapped the file. */
    void met(RingPair rings) {
        connecting.stopTimeout();
        if (state != State.OPEN) {
            rings.close();
            return;
        }
        this.rings = rings;
        state = State.CONNECTED;
        connecting.succeed();
        pipeline().fireChannelActive();
    }

    /** The connection cannot be made, or cannot go on. */
    void fail(Throwable reason) {
        Throwable cause = MemoryFault.causeOf(reason);
        if (!connecting.fail(cause) && isActive()) {
            pipeline().fireExceptionCaught(cause);
        }
        unsafe().close(voidPromise());
    }

    // Turns of the event loop

    /** The other side has rung. */
    void woken() {
        turn();
    }

    /** The other side has closed the socket, or has been killed, or this side's event loop ends. */
    void peerGone() {
        peerGone = true;
        if (eventLoop().isShuttingDown()) {
            unsafe().close(voidPromise()); // no later turn is certain
        } else {
            turn();
        }
    }

    /** Reads and writes what can be, and comes back as long as more may come soon. */
    private void turn() {
        turns.begin();
        inTurn = true;
        try {
            if (moveBytes()) {
                turns.moved();
            }
            if (rings != null) {
                waitForMore(rings);
            }
        } catch (Throwable e) { // a channel that cannot read would wait for ever
            fail(e);
        } finally {
            inTurn = false;
        }
    }

    /** Returns whether any was moved. */
    private boolean moveBytes() throws IOException {
        boolean moved = readPending && readRing();
        if (writeBlocked && rings != null) {
            moved |= ((SharedMemoryUnsafe) unsafe()).writeOn();
        }
        return moved;
    }

    private void waitForMore(RingPair rings) throws IOException {
        if (peerGone && rings.reader().available() == 0) {
            unsafe().close(voidPromise());
            return;
        }
        if (peerGone && !readPending && !isWritable()) {
            ((SharedMemoryUnsafe) unsafe()).failWrites();
            return;
        }
        if (!readPending && !writeBlocked) {
            return;
        }
        if (turns.sinceMoved() < config.spinNanos()) {
            turns.queue();
            return;
        }
        boolean mayRead = readPending && !rings.reader().beforeSleep();
        boolean mayWrite = writeBlocked && !rings.writer().beforeSleep();
        if (mayRead || mayWrite) {
            turns.queue();
        }
    }

    // Reading

    @Override
    protected void doBeginRead() {
        readPending = true;
        turns.queue();
    }

    /** Forgets that there was to be a read, from any thread. */
    void clearRead() {
        if (!isRegistered() || eventLoop().inEventLoop()) {
            readPending = false;
        } else {
            eventLoop().execute(() -> {
                if (!config.isAutoRead()) {
                    readPending = false;
                }
            });
        }
    }

    /** Returns whether there was anything. */
    @SuppressWarnings("deprecation") // the allocator's handle, which has no other name in Netty 4.1
    private boolean readRing() throws IOException {
        RingPair rings = this.rings;
        if (rings == null || rings.reader().available() == 0) {
            return false;
        }
        readPending = false;
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.Handle handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        do {
            ByteBuf buffer = handle.allocate(config.getAllocator());
            try {
                handle.attemptedBytesRead(buffer.writableBytes());
                handle.lastBytesRead(rings.read(buffer));
                handle.incMessagesRead(1);
                if (rings.reader().release()) {
                    Doorbell.ring(socket);
                }
            } catch (Throwable e) {
                buffer.release();
                throw e;
            }
            pipeline.fireChannelRead(buffer);
            rings = this.rings;
        } while (rings != null && rings.reader().available() > 0 && handle.continueReading());
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        return true;
    }

    // Writing

    @Override
    protected Object filterOutboundMessage(Object msg) {
        if (msg instanceof ByteBuf) {
            return msg;
        }
        throw new UnsupportedOperationException(
                "message type: " + StringUtil.simpleClassName(msg) + " (expected: ByteBuf)");
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        try {
            writeRing(out);
        } catch (InternalError e) {
            throw MemoryFault.cutShort(e);
        }
    }

    private void writeRing(ChannelOutboundBuffer out) throws Exception {
        writeBlocked = false;
        // To fail what cannot be written as the peer is gone would end the channel, with what the peer wrote before.
        RingPair rings = this.rings;
        while (rings != null && !writeBlocked && !peerGone && !out.isEmpty()) {
            long written = rings.filling().fill(out);
            writeBlocked = rings.filling().isFull();
            if (rings.writer().flush()) {
                Doorbell.ring(socket);
            }
            out.removeBytes(written); // which tells listeners, who may write more, or close the channel
            rings = this.rings;
        }
        if (!inTurn && rings != null && !out.isEmpty()) {
            turns.queue();
        }
    }

    // The end

    /** Whatever cannot be released, the rest is. */
    @Override
    protected void doClose() {
        state = State.CLOSED;
        connecting.stopTimeout();
        try (RingPair over = rings) {
            rings = null; // only this event loop uses them, and asks for them each time
            if (over != null) {
                over.flushLast(); // a listener may close in the middle of a flush
            }
        } finally {
            try {
                closeSocket(socket); // which wakes the other side
            } finally {
                connecting.fail(new ClosedChannelException());
            }
        }
    }

    /** Closes a socket, which cannot close itself before it has an event loop. */
    static void closeSocket(Channel socket) {
        if (socket.isRegistered()) {
            socket.close();
        } else {
            socket.unsafe().closeForcibly();
        }
    }

    private final class SharedMemoryUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress server, @Nullable SocketAddress from, ChannelPromise promise) {
            if (!promise.setUncancellable() || !ensureOpen(promise)) {
                return;
            }
            if (isServer || isActive() || connecting.isWaiting()) {
                safeSetFailure(promise, new AlreadyConnectedException());
                return;
            }
            if (!(server instanceof SharedMemoryAddress address)) {
                safeSetFailure(promise, new UnsupportedAddressTypeException());
                return;
            }
            remote = address;
            connecting.begin(promise);
            socket.connect(addresses.apply(address.path())).addListener((ChannelFutureListener) connected -> {
                if (!connected.isSuccess()) {
                    fail(annotateConnectException(connected.cause(), address));
                }
            });
        }

        /** Writes what there was no room for; returns whether any of it was written. */
        boolean writeOn() {
            ChannelOutboundBuffer out = outboundBuffer();
            long before = out == null ? 0 : out.totalPendingWriteBytes();
            flush0();
            out = outboundBuffer();
            return out != null && out.totalPendingWriteBytes() < before;
        }

        /** A program that reads when it can write again would otherwise wait for ever. One that does not read ends. */
        void failWrites() {
            IOException cause = new IOException("shared memory: the other side is gone");
            ChannelOutboundBuffer out = outboundBuffer();
            int before = out == null ? 0 : out.size(); // whoever is told may write more
            for (int left = before; out != null && left > 0; left--) {
                out.remove(cause);
                out = outboundBuffer();
            }
            if (before > 0 && !readPending && !isWritable()) {
                close(voidPromise());
            }
        }
    }
}
