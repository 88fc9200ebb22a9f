package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.socket.ZMTPSocketException.Reason.BIND_FAILED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An endpoint that a socket is bound to, where it accepts peers. */
public final class Listener extends AbstractEndpoint {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Listener");
    private static final long UNTIL_SELECTED = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long UNTIL_AWAITED = TimeUnit.SECONDS.toNanos(1);

    /** The states of the address, which the operating system gives to this listener. */
    private enum Hold {
        FREE,
        /** The operating system is being asked for it, and can have given it. */
        BEING_TAKEN,
        TAKEN,
        /** The channel is closed, but the address might not be free. */
        BEING_FREED
    }

    private final SocketEndpoints endpoints;
    private final CompletableFuture<Void> unbound = new CompletableFuture<>();
    private volatile String text;

    // On the event loop
    private @Nullable Channel listener;

    private Hold hold = Hold.FREE;

    private volatile boolean ended;

    /** True if the endpoint was closed, even if the event loop does not know it yet. */
    private volatile boolean wasClosed;

    Listener(SocketContext context, SocketEndpoints endpoints, Endpoint endpoint) {
        super(context, endpoint);
        this.endpoints = endpoints;
        this.text = endpoint.toString();
    }

    @Override
    public String text() {
        return text;
    }

    @Override
    public @Nullable ZMTPPeer peer() {
        return null;
    }

    @Override
    public State state() {
        if (!ready.isDone()) {
            return State.RESOLVING;
        }
        return ended ? State.STOPPED : State.LISTENING;
    }

    @Override
    ZMTPSocketException notReadyYet() {
        return new ZMTPSocketException(TIMEOUT, text + " is not bound yet");
    }

    /** Does nothing, because binding is not tried again. */
    @Override
    public void retryNow() {}

    @Override
    public void close() {
        wasClosed = true; // now, because the caller can bind to the same endpoint next
        if (!context.tryExecute(this::end)) {
            unbound.complete(null);
        }
    }

    /** Returns whether this listener was closed, and its address, which the other might need, is not free yet. */
    boolean hasTheAddressOf(Listener next) {
        return (wasClosed || ended)
                && (text.equals(next.text.replace("//*:", "//0.0.0.0:"))
                        || endpoint.toString().equals(next.endpoint.toString()));
    }

    /** Completes when no more peers are accepted. */
    public CompletableFuture<Void> unbound() {
        return unbound.copy();
    }

    // On the event loop

    void start() {
        if (!ended) {
            lookUp();
        }
    }

    @Override
    void resolve() {
        SocketAddress found;
        try {
            found = first(endpoint.address().resolve());
            checkPermissions();
        } catch (Throwable e) { // the transport can be a user's
            context.executeHere(() -> failed(e));
            return;
        }
        if (context.inEventLoop()) {
            bind(found);
        } else if (!context.tryExecute(() -> bind(found))) {
            addressUnbound();
        }
    }

    private void checkPermissions() throws IOException {
        Set<PosixFilePermission> permissions = context.config().ipcPermissions();
        if (permissions != null) {
            try {
                endpoint.address().checkPermissions(permissions);
            } catch (Throwable e) {
                addressUnbound();
                throw e;
            }
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
        if (context.eventLoop().isShuttingDown()) { // a channel created now would outlive it
            addressUnbound();
            failed(new IllegalStateException("the event loop is shutting down"));
            return;
        }
        hold = Hold.BEING_TAKEN;
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(context.eventLoop(), context.eventLoop())
                .channelFactory(endpoint.transport()::serverChannel)
                .childHandler(endpoints
                        .setup()
                        .accepted(this, () -> new PeerHandler(context, endpoints.owner(), new Accepted())));
        Sockets.options(bootstrap, context.config(), endpoint);
        bootstrap
                .bind(address)
                .addListener(
                        (ChannelFuture done) -> // on another thread if no channel could be created
                        context.executeHere(() -> bound(done.channel(), done.cause())));
    }

    private void bound(Channel channel, @Nullable Throwable cause) {
        hold = cause == null ? Hold.TAKEN : Hold.FREE;
        if (cause != null) {
            addressUnbound();
            if (ended) {
                noLongerBound();
            } else {
                failed(cause);
            }
            return;
        }
        try {
            text = endpoint.transport().scheme() + "://" + endpoint.address().boundTo(channel.localAddress());
            endpoint.address().bound(context.config().ipcPermissions());
        } catch (RuntimeException e) {
            fail(e);
        }
        channel.closeFuture().addListener(f -> closed());
        if (ended) {
            channel.close();
            return;
        }
        listener = channel;
        channel.pipeline().addLast(new Failures()); // after Netty's own handler, which pauses
        context.fire(new ZMTPSocketEvent.Listening(text));
        ready.succeed(this);
    }

    /** Converts the failures of native transports and files, which have other types when an address is refused. */
    private static Throwable refusal(Throwable cause) {
        boolean isKnown = cause instanceof BindException || cause instanceof UnknownHostException;
        boolean ofSystem = cause instanceof IOException || cause instanceof UncheckedIOException;
        return isKnown || !ofSystem ? cause : new BindException(String.valueOf(cause.getMessage())).initCause(cause);
    }

    /** Adds the endpoint, because the operating system's message does not contain the address. */
    private String withEndpoint(Throwable cause) {
        String text = String.valueOf(cause.getMessage());
        return text.contains(endpoint.address().toString()) ? text : endpoint + ": " + text;
    }

    @Override
    void failed(Throwable cause) {
        if (!ended) { // otherwise it was closed in the meantime
            fail(cause);
            noLongerBound();
        }
    }

    private void fail(Throwable cause) {
        ended = true;
        String why = withEndpoint(cause);
        context.schedule(() -> reportUnlessAwaited(why), UNTIL_AWAITED);
        ready.fail(new ZMTPSocketException(BIND_FAILED, why, refusal(cause)));
    }

    /** Logs the failure, because nothing else would report that no peer can connect. */
    private void reportUnlessAwaited(String why) {
        if (!awaited) {
            logger.error("{}", why);
        }
    }

    /** NIO frees the address of a closed channel in its next select. Only then can another socket bind to it. */
    private void closed() {
        hold = Hold.BEING_FREED;
        if (context.schedule(this::freed, UNTIL_SELECTED) == null) {
            freed();
        }
    }

    private void freed() {
        if (hold != Hold.BEING_FREED) {
            return;
        }
        hold = Hold.FREE;
        addressUnbound();
        if (listener != null) {
            context.fire(new ZMTPSocketEvent.Stopped(text, null));
        }
        noLongerBound();
    }

    private void noLongerBound() {
        endpoints.unbound(this);
        unbound.complete(null);
    }

    private void addressUnbound() {
        try {
            endpoint.address().unbound();
        } catch (RuntimeException e) {
            logger.warn("{}: its transport failed at the end", text, e);
        }
    }

    /** Accepts no more peers. If the endpoint is not bound yet, it will not be. */
    public void end() {
        if (ended) {
            return;
        }
        ended = true;
        forgetLookup();
        if (listener != null) {
            if (context.eventLoop().isTerminated()) { // without notice from the channel
                addressUnbound();
            }
            listener.close();
            return;
        }
        if (hold != Hold.BEING_TAKEN) { // otherwise the address is free only after it was taken
            noLongerBound();
        }
        boolean loopEnds = context.eventLoop().isShuttingDown() && !context.isClosed();
        String why = loopEnds ? "the event loop is shutting down" : "the endpoint or its socket is closed";
        ready.fail(new ZMTPSocketException(CLOSED, why));
    }

    /** Ends with the event loop, which runs no more timers. On the event loop, or after its end. */
    public void loopEnds() {
        end();
        freed();
    }

    /** Failures of the listening channel, such as too many open files. Netty then pauses for a second. */
    private final class Failures extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            context.fire(new ZMTPSocketEvent.AcceptFailed(text, cause));
            logger.warn("{}: a connection was not accepted: {}", text, cause.toString());
        }
    }

    /** An accepted connection. */
    private final class Accepted implements PeerHandler.Origin {

        @Override
        public String endpoint() {
            return text;
        }

        @Override
        public @Nullable Peer peer() {
            return null; // each connection has a new peer
        }

        @Override
        public Listener listener() {
            return Listener.this;
        }

        @Override
        public void up() {}

        @Override
        public void ended(PeerHandler link, Throwable cause) {}
    }
}
