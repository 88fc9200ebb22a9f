package dev.zmtp.socket;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.net.BindException;
import java.net.SocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint that a socket is bound to, where it accepts peers.
 *
 * <p>All methods may be called from any thread.
 */
public final class ZMTPBinding {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPBinding.class);
    private static final long UNTIL_SELECTED = TimeUnit.MILLISECONDS.toNanos(1);

    private final SocketCore core;
    private final Endpoint endpoint;
    private final CompletableFuture<ZMTPBinding> bound = new CompletableFuture<>();
    private final CompletableFuture<Void> unbound = new CompletableFuture<>();
    private volatile String text;

    // On the event loop
    private final Set<PeerHandler> links = new LinkedHashSet<>();
    private @Nullable Channel listener;
    private boolean ended;

    ZMTPBinding(SocketCore core, Endpoint endpoint) {
        this.core = core;
        this.endpoint = endpoint;
        this.text = endpoint.toString();
    }

    /** The endpoint that the socket is bound to, with the real port. A peer on this machine may connect to it. */
    public String endpoint() {
        return text;
    }

    /**
     * Accepts no more peers. Those that are connected stay.
     *
     * @return completes when no more peers are accepted
     */
    public CompletableFuture<Void> unbind() {
        if (!core.tryExecute(this::end)) {
            unbound.complete(null);
        }
        return unbound.copy();
    }

    /** Closes the connections of all peers that were accepted here. They may connect again unless it is unbound. */
    public void closePeers() {
        core.tryExecute(() -> List.copyOf(links).forEach(PeerHandler::disconnect));
    }

    @Override
    public String toString() {
        return "ZMTPBinding{" + text + "}";
    }

    CompletableFuture<ZMTPBinding> bound() {
        return bound;
    }

    // On the event loop

    void start() {
        if (!endpoint.address().mayBlock()) {
            resolve();
            return;
        }
        try {
            core.config().resolver().execute(this::resolve);
        } catch (RuntimeException e) {
            failed(e);
        }
    }

    /** On the executor for it, if it may block. */
    private void resolve() {
        SocketAddress found;
        try {
            found = first(endpoint.address().resolve());
        } catch (Throwable e) { // the transport may be a user's
            core.executeHere(() -> failed(e));
            return;
        }
        if (core.inEventLoop()) {
            bind(found);
        } else if (!core.tryExecute(() -> bind(found))) {
            addressUnbound();
        }
    }

    private SocketAddress first(List<? extends SocketAddress> found) throws IOException {
        if (found.isEmpty()) {
            throw new IOException(endpoint + ": the name has no address");
        }
        return found.get(0);
    }

    private void bind(SocketAddress address) {
        if (ended) {
            addressUnbound();
            return;
        }
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(core.eventLoop(), core.eventLoop())
                .channelFactory(endpoint.transport()::serverChannel)
                .childHandler(core.setup().accepted(endpoint, () -> new PeerHandler(core, new Accepted())));
        Sockets.options(bootstrap, core.config(), endpoint);
        bootstrap
                .bind(address)
                .addListener(
                        (ChannelFuture done) -> // on another thread if no channel could be made
                        core.executeHere(() -> bound(done.channel(), done.cause())));
    }

    private void bound(Channel channel, @Nullable Throwable cause) {
        if (cause != null) {
            addressUnbound();
            failed(withEndpoint(cause));
            return;
        }
        try {
            text = endpoint.transport().scheme() + "://" + endpoint.address().boundTo(channel.localAddress());
            endpoint.address().bound();
        } catch (RuntimeException e) {
            failed(e);
        }
        channel.closeFuture().addListener(f -> closed());
        if (ended) {
            channel.close();
            return;
        }
        listener = channel;
        channel.pipeline().addLast(new Failures()); // after Netty's own, which pauses
        core.events().fire(new ZMTPSocketEvent.Bound(text));
        bound.complete(this);
    }

    /** What the operating system says does not name the address. */
    private Throwable withEndpoint(Throwable cause) {
        String address = endpoint.address().toString();
        if (!(cause instanceof IOException)
                || String.valueOf(cause.getMessage()).contains(address)) {
            return cause;
        }
        String message = endpoint + ": " + cause.getMessage();
        IOException named = cause instanceof BindException ? new BindException(message) : new IOException(message);
        named.initCause(cause);
        return named;
    }

    private void failed(Throwable cause) {
        ended = true;
        core.unbound(this);
        bound.completeExceptionally(cause);
        unbound.complete(null);
    }

    /** NIO frees the address of a closed channel in its next select. Only then another socket may bind to it. */
    private void closed() {
        if (core.schedule(this::unbound, UNTIL_SELECTED) == null) {
            unbound();
        }
    }

    private void unbound() {
        addressUnbound();
        core.unbound(this);
        if (listener != null) {
            core.events().fire(new ZMTPSocketEvent.Unbound(text));
        }
        unbound.complete(null);
    }

    private void addressUnbound() {
        try {
            endpoint.address().unbound();
        } catch (RuntimeException e) {
            logger.warn("{}: its transport failed at the end", text, e);
        }
    }

    /** Accepts no more. If it is not bound yet, it will not be. */
    void end() {
        if (ended) {
            return;
        }
        ended = true;
        if (listener != null) {
            listener.close();
        } else {
            failed(new ZMTPSocketException(ZMTPSocketException.Reason.CLOSED, "the socket is closed"));
        }
    }

    /** Failures of the listening channel, such as too many open files. Netty then pauses for a second. */
    private final class Failures extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            core.events().fire(new ZMTPSocketEvent.AcceptFailed(text, cause));
            logger.warn("{}: a connection was not accepted: {}", text, cause.toString());
        }
    }

    /** One connection that was accepted. */
    private final class Accepted implements PeerHandler.Origin {

        @Override
        public String endpoint() {
            return text;
        }

        @Override
        public @Nullable ZMTPPeer peer() {
            return null;
        }

        @Override
        public void began(PeerHandler link) {
            links.add(link);
        }

        @Override
        public void up() {}

        @Override
        public void ended(PeerHandler link, Throwable cause) {
            links.remove(link);
        }
    }
}
