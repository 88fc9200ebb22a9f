package dev.zmtp.shm;

import io.netty.channel.AbstractServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.BindException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Accepts connections through shared memory, at the {@link SharedMemoryAddress} that it is bound to. The path is that
 * of a Unix domain socket. Its file is removed when this channel is closed. A killed server leaves the file, which must
 * be removed before the next bind to this path.
 *
 * <p>Its children are {@link SharedMemoryChannel}s, which are active when their clients have mapped the memory.
 */
public final class SharedMemoryServerChannel extends AbstractServerChannel {

    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final Channel socket;
    private final Function<String, ? extends SocketAddress> addresses;
    private final SharedDirectory directory;
    private final RefusalLog refusals = new RefusalLog();

    private volatile boolean closed;
    private volatile @Nullable SharedMemoryAddress local;

    /** Creates a server on NIO event loops. */
    public SharedMemoryServerChannel() {
        this(NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of);
    }

    /**
     * Creates a server on event loops of another transport, such as
     * {@code new SharedMemoryServerChannel(EpollServerDomainSocketChannel::new, DomainSocketAddress::new)}.
     *
     * @param sockets creates a server's Unix domain socket of that transport
     * @param addresses creates the address of such a socket from its path
     */
    public SharedMemoryServerChannel(
            ChannelFactory<? extends ServerChannel> sockets, Function<String, ? extends SocketAddress> addresses) {
        this(sockets, addresses, SharedDirectory.standard());
    }

    /** Creates a server whose files are in {@code directory}. */
    SharedMemoryServerChannel(
            ChannelFactory<? extends ServerChannel> sockets,
            Function<String, ? extends SocketAddress> addresses,
            SharedDirectory directory) {
        this.socket = sockets.newChannel();
        this.addresses = addresses;
        this.directory = directory;
        socket.config().setAutoRead(false); // it accepts when this channel reads
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    /** Returns the directory in which the file of each connection is created. */
    SharedDirectory directory() {
        return directory;
    }

    /** Logs, at most once a second, that there is no file for a client. Can be called from any thread. */
    void refused(Throwable cause) {
        refusals.log(this, cause);
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    @Override
    public boolean isActive() {
        return local != null && !closed;
    }

    @Override
    public @Nullable SharedMemoryAddress localAddress() {
        return local;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        return local;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true; // if not, the socket says so when it is registered
    }

    @Override
    @SuppressWarnings("deprecation") // what takes its place is not in Netty 4.1
    protected void doRegister() throws Exception {
        if (!socket.isRegistered()) {
            socket.pipeline().addLast(new Acceptor());
            check(eventLoop().register(socket));
        }
    }

    /** Closes an open channel, because the socket belongs to a single event loop. */
    @Override
    protected void doDeregister() {
        boolean wasActive = isActive();
        if (isOpen()) {
            unsafe().close(voidPromise());
        }
        if (wasActive) {
            pipeline().fireChannelInactive(); // the close would fire it after the pipeline has lost its handlers
        }
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        if (!(address instanceof SharedMemoryAddress path)) {
            throw new UnsupportedAddressTypeException();
        }
        FileThread.SHARED.execute(directory::removeStale);
        ChannelFuture bound = socket.bind(addresses.apply(path.path())); // on its event loop it is done at once
        if (bound.cause() instanceof IOException e) {
            throw (IOException) new BindException(e.getMessage() + ": " + path).initCause(e);
        }
        check(bound);
        local = path;
    }

    private static void check(ChannelFuture future) throws Exception {
        if (future.cause() instanceof Exception cause) {
            throw cause;
        }
    }

    @Override
    protected void doBeginRead() {
        socket.read();
    }

    @Override
    protected void doClose() {
        closed = true;
        Doorbell.close(socket, null);
    }

    /** Passes on accepted sockets as connections whose meeting is pending. */
    private final class Acceptor extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object accepted) {
            pipeline().fireChannelRead(new SharedMemoryChannel(SharedMemoryServerChannel.this, (Channel) accepted));
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            pipeline().fireChannelReadComplete();
        }

        /** Called when the event loop ends. */
        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            unsafe().close(voidPromise());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            pipeline().fireExceptionCaught(cause);
        }
    }
}
