package dev.zmtp.shm;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Connection through memory that two processes of the same machine share. It replaces a socket, with the same event
 * loops, pipeline, promises and writability.
 *
 * <p>A client connects to the {@link SharedMemoryAddress} of a {@link SharedMemoryServerChannel}. Only a client of the
 * same user as the server can connect, because the shared file has the mode 0600, and a client rejects the file of
 * another user. A client has no address, so a server's channel has no remote address.
 *
 * <p>A write is complete when it is in the ring, like a socket write that is in the kernel. If a side is closed or
 * killed, the content of its ring is still delivered to the other side, whose channel then becomes inactive. Writes of
 * the other side during this time fail then, or as soon as it is not writable and does not read.
 *
 * <p>Either half can be shut down, like that of a socket. A channel whose peer has shut down its output ends when all
 * data is read, unless {@code ALLOW_HALF_CLOSURE} is set.
 *
 * <p>A channel cannot leave its event loop, because deregistering closes it.
 *
 * <p>A waiting side spins for a moment and then sleeps until the other side rings (see
 * {@link SharedMemoryChannelOption#SPIN_MICROS}). An idle connection uses no CPU time.
 */
public final class SharedMemoryChannel extends AbstractMemoryChannel {

    private enum State {
        OPEN,
        CONNECTED,
        CLOSED
    }

    private final SharedMemoryConfig config = new SharedMemoryConfig(this);

    /** The Unix domain socket. */
    private final Channel socket;

    private final Function<String, ? extends SocketAddress> addresses;
    private final boolean isServer;

    private volatile State state = State.OPEN;
    private volatile @Nullable SharedMemoryAddress local;
    private volatile @Nullable SharedMemoryAddress remote;

    /** The client's answer to the invitation, without which the server does not read what the ring contains. */
    private @Nullable ChannelFuture answer;

    private final PendingConnect connecting = new PendingConnect(this);
    private final RingTraffic traffic = new RingTraffic(this);

    /** Creates a client on NIO event loops. */
    public SharedMemoryChannel() {
        this(NioDomainSocketChannel::new, UnixDomainSocketAddress::of);
    }

    /**
     * Creates a client on event loops of another transport, such as
     * {@code new SharedMemoryChannel(EpollDomainSocketChannel::new, DomainSocketAddress::new)}.
     *
     * @param sockets creates a Unix domain socket of that transport
     * @param addresses creates the address of such a socket from its path
     */
    public SharedMemoryChannel(
            ChannelFactory<? extends Channel> sockets, Function<String, ? extends SocketAddress> addresses) {
        this(null, sockets.newChannel(), addresses);
    }

    /** Creates the channel of a server that has accepted {@code socket}. */
    SharedMemoryChannel(SharedMemoryServerChannel parent, Channel socket) {
        this(parent, socket, path -> {
            throw new AlreadyConnectedException();
        });
        local = parent.localAddress();
    }

    private SharedMemoryChannel(
            @Nullable SharedMemoryServerChannel parent,
            Channel socket,
            Function<String, ? extends SocketAddress> addresses) {
        super(parent);
        this.socket = socket;
        this.addresses = addresses;
        this.isServer = parent != null;
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    SharedMemoryConfig settings() {
        return config;
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
        super.doRegister();
        if (isServer) {
            connecting.startTimeout();
        }
    }

    @Override
    void doConnect(SocketAddress server, ChannelPromise promise) {
        if (isServer || isActive() || connecting.isWaiting()) {
            promise.tryFailure(new AlreadyConnectedException());
            return;
        }
        if (!(server instanceof SharedMemoryAddress address)) {
            promise.tryFailure(new UnsupportedAddressTypeException());
            return;
        }
        SocketAddress path = addresses.apply(address.path()); // first, because there might be no such path
        remote = address;
        connecting.begin(promise);
        socket.connect(path).addListener(connected -> {
            if (!connected.isSuccess()) {
                fail(connected.cause());
            }
        });
    }

    /** Called when both sides have mapped the file. */
    void met(RingPair rings) {
        connecting.stopTimeout();
        if (state != State.OPEN) {
            rings.close();
            return;
        }
        traffic.begin(rings);
        state = State.CONNECTED;
        boolean wanted = connecting.succeed();
        pipeline().fireChannelActive();
        if (!wanted) {
            closeNow();
        }
    }

    /** Called when the connection cannot be established, or cannot continue. */
    void fail(Throwable reason) {
        Throwable cause = MemoryFault.causeOf(reason);
        if (!connecting.fail(cause) && isActive()) {
            pipeline().fireExceptionCaught(cause);
        }
        closeNow();
    }

    // Traffic

    /** Returns the Unix domain socket. */
    Channel socket() {
        return socket;
    }

    RingTraffic traffic() {
        return traffic;
    }

    @Override
    protected void doBeginRead() {
        traffic.beginRead();
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) throws Exception {
        traffic.write(out);
    }

    @Override
    void endInput() {
        traffic.inputShutdown();
    }

    @Override
    void endOutput() {
        traffic.outputShutdown();
    }

    // The end

    /** Called with the write by which the client accepts the invitation. */
    void answers(ChannelFuture written) {
        answer = written;
    }

    /** Releases all resources, even if the release of some of them fails. */
    @Override
    protected void doClose() throws Exception {
        state = State.CLOSED;
        connecting.stopTimeout();
        super.doClose();
        try {
            traffic.end();
        } finally {
            try {
                Doorbell.close(socket, answer); // which wakes the other side
            } finally {
                connecting.fail(new ClosedChannelException());
            }
        }
    }
}
