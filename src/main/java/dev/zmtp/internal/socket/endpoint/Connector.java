package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.PeerHome;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint that a socket connects to. Whenever the connection ends, it connects again after a delay of its
 * {@link Backoff}. Names are resolved for each attempt, and all their addresses are tried.
 */
public final class Connector extends AbstractEndpoint implements PeerHome {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Connector");

    /** Maximum time to connect to an address while there are other addresses to try. */
    private static final Duration WITH_OTHERS = Duration.ofSeconds(1);

    /** Time for which an unbound name of this process is not unusual, in nanoseconds. */
    private static final long UNTIL_BOUND = Duration.ofSeconds(10).toNanos();

    private final SocketEndpoints endpoints;
    private final Peer peer;
    private final @Nullable Consumer<? super ZMTPConfig.Builder> changes;
    private final Backoff backoff;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final ConnectLog log;
    private final RefusedTopics refusedTopics = new RefusedTopics();
    private volatile State state = State.RESOLVING;
    private volatile boolean wasClosed;

    // On the event loop
    private final Addresses addresses = new Addresses();
    private @Nullable AutoCloseable whenBound;
    private @Nullable ScheduledFuture<?> retry;
    private @Nullable ScheduledFuture<?> lingers;
    private @Nullable PeerHandler link;
    private long awaySince;
    private volatile boolean closing; // changed there, and read in any thread
    private long closingSince; // for at most lingerNanos
    private long lingerNanos;
    private volatile @Nullable Throwable lastFailure;

    @SuppressWarnings("this-escape") // nothing happens before start()
    Connector(
            SocketContext context,
            SocketEndpoints endpoints,
            Endpoint endpoint,
            @Nullable Consumer<? super ZMTPConfig.Builder> changes) {
        super(context, endpoint);
        this.endpoints = endpoints;
        this.changes = changes;
        this.peer = endpoints.owner().newPeer(this);
        this.log = new ConnectLog(text());
        this.backoff = new Backoff(context.config(), context::random);
    }

    @Override
    public String text() {
        return endpoint.toString();
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    ZMTPConfig codec(ZMTPConfig ofSocket) {
        return changes == null ? ofSocket : Settings.codec(ofSocket, changes);
    }

    @Override
    public Peer peer() {
        return peer;
    }

    @Override
    ZMTPSocketException notReadyYet() {
        return new ZMTPSocketException(TIMEOUT, text() + ": " + state, lastFailure);
    }

    @Override
    public void retryNow() {
        context.execute(() -> {
            if (state == State.RETRYING) {
                attempt();
            }
        });
    }

    @Override
    public void close() {
        wasClosed = true; // now, because the caller can connect to the same endpoint next
        if (!peer.sends().afterAccepted(() -> close(context.config().linger()))) {
            closed.complete(null);
        }
    }

    /** Returns whether {@link #close} has been called. */
    boolean wasClosed() {
        return wasClosed;
    }

    /** Completes when this side has ended the connection after {@link #close}. Its peer can still be reading. */
    public CompletableFuture<Void> closed() {
        return closed.copy();
    }

    // On the event loop

    void start() {
        try {
            whenBound = endpoint.address().whenBound(this::retryNow);
        } catch (RuntimeException e) {
            logger.warn("{}: cannot watch for the address to be bound", endpoint, e);
        }
        awaySince = context.nanoTime();
        attempt();
    }

    private void attempt() {
        if (context.eventLoop().isShuttingDown()) { // a channel created now would outlive it
            closeNow();
            return;
        }
        cancel(retry);
        retry = null;
        state = State.RESOLVING;
        context.fire(new ZMTPSocketEvent.Connecting(text(), backoff.failures() + 1));
        lookUp();
    }

    @Override
    void resolve() {
        List<? extends SocketAddress> found;
        try {
            found = endpoint.address().resolve();
        } catch (Throwable e) { // the transport can be a user's
            context.executeHere(() -> failed(e));
            return;
        }
        context.executeHere(() -> resolved(found));
    }

    private void resolved(List<? extends SocketAddress> found) {
        if (state != State.RESOLVING) {
            return; // it was closed in the meantime
        }
        addresses.begin(found);
        connectToNext(null);
    }

    /** @param cause the failure of the last address; null if there was none */
    private void connectToNext(@Nullable Throwable cause) {
        if (context.eventLoop().isShuttingDown()) {
            closeNow();
            return;
        }
        SocketAddress address = addresses.next();
        if (address == null) {
            failed(cause == null ? new IOException(endpoint + ": the name has no address") : cause);
            return;
        }
        state = State.CONNECTING;
        PeerHandler handler = new PeerHandler(context, endpoints.owner(), new Attempt());
        link = handler;
        ChannelSetup.Connecting setup = endpoints.setup().connecting(this, handler);
        Bootstrap bootstrap = new Bootstrap()
                .group(context.eventLoop())
                .channelFactory(endpoint.transport()::channel)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeout())
                .handler(setup);
        Sockets.options(bootstrap, context.config(), endpoint);
        bootstrap
                .connect(address, endpoint.address().source())
                .addListener(
                        (ChannelFuture connected) -> // on another thread if no channel could be created
                        context.executeHere(() -> connected(connected.channel(), setup, connected.cause())));
    }

    /**
     * Returns the timeout in milliseconds, which is limited while other addresses wait, so that a dead address does not
     * delay them for long.
     */
    private int connectTimeout() {
        long millis = context.config().connectTimeout().toMillis();
        return (int) (addresses.hasNext() ? Math.min(millis, WITH_OTHERS.toMillis()) : millis);
    }

    private void connected(Channel channel, ChannelSetup.Connecting setup, @Nullable Throwable reported) {
        Throwable cause = setup.cause(reported);
        if (cause != null) {
            if (setup.hasFailed()) {
                failed(cause);
            } else if (state == State.CONNECTING) {
                addresses.failed();
                connectToNext(cause);
            }
        } else if (state == State.CONNECTING) {
            state = State.HANDSHAKING;
            SocketAddress local = channel.localAddress();
            if (local != null && local.equals(channel.remoteAddress())) { // through an ephemeral port
                Objects.requireNonNull(link).refuse("connected to itself");
            }
        }
    }

    /**
     * Returns whether the next address is tried at once. A load balancer whose service is down accepts a connection and
     * closes it, or responds in a protocol of its own. A refusal, or a peer that does not fit, is the answer of the
     * service itself.
     */
    private boolean triesTheNextAfter(Throwable cause) {
        return state == State.HANDSHAKING && isOfAddress(cause) && addresses.hasNext();
    }

    /** Returns whether another address might work better. */
    private static boolean isOfAddress(Throwable cause) {
        ZMTPSocketEvent.FailureKind kind = Backoff.kindOf(cause);
        return kind == ZMTPSocketEvent.FailureKind.TRANSIENT || kind == ZMTPSocketEvent.FailureKind.NOT_ZMTP;
    }

    /** Called when the attempt or the connection has ended. */
    @Override
    void failed(Throwable cause) {
        if (state == State.STOPPED || state == State.RETRYING) {
            return;
        }
        link = null;
        lastFailure = cause;
        if (closing && !endpoints.owner().waitsFor(peer)) {
            stopClosed(cause);
            return;
        }
        ZMTPSocketEvent.FailureKind kind =
                refusedTopics.explains(cause) ? ZMTPSocketEvent.FailureKind.REJECTED : Backoff.kindOf(cause);
        long wait = backoff.next(kind);
        if (isNotBoundYet(cause) && wait >= 0) {
            log.notBoundYet(cause);
        } else {
            log.failed(kind, cause, wait >= 0);
        }
        if (wait < 0) {
            String text = text() + " was given up: " + ConnectLog.text(cause);
            stop(() -> new ZMTPSocketException(ZMTPSocketException.Reason.PEER_DOWN, text, cause));
            context.fire(new ZMTPSocketEvent.Stopped(text(), cause));
            return;
        }
        state = State.RETRYING;
        context.fire(new ZMTPSocketEvent.Retrying(text(), kind, backoff.failures(), Duration.ofNanos(wait), cause));
        retry = context.schedule(this::attempt, wait);
    }

    private boolean isNotBoundYet(Throwable cause) {
        return endpoint.transport().carriesMessages()
                && cause instanceof ConnectException
                && context.nanoTime() - awaySince < UNTIL_BOUND;
    }

    /** Returns the cause of the end of the last attempt or connection; null while connected. */
    @Override
    public @Nullable Throwable lastFailure() {
        return lastFailure;
    }

    /** Returns whether its peer accepts no more messages. */
    @Override
    public boolean isClosing() {
        return closing || state == State.STOPPED;
    }

    private void stop(Supplier<ZMTPSocketException> cause) {
        state = State.STOPPED;
        cancel(retry);
        cancel(lingers);
        addresses.clear();
        forgetLookup();
        if (whenBound != null) {
            Sockets.closeQuietly(whenBound);
        }
        endpoints.stopped(this);
        if (!ready.isDone()) {
            ready.fail(cause.get());
        }
        if (link == null || !link.isOpen()) {
            closed.complete(null);
        }
    }

    private void stopClosed(@Nullable Throwable cause) {
        stop(() -> new ZMTPSocketException(ZMTPSocketException.Reason.CLOSED, "the connector is closed", cause));
        context.fire(new ZMTPSocketEvent.Stopped(text(), null));
    }

    private static void cancel(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Returns whether all accepted messages have left. */
    private boolean isIdle() {
        return !endpoints.owner().waitsFor(peer) && (link == null || link.isIdle());
    }

    private void close(Duration linger) {
        if (isClosing()) {
            return;
        }
        peer.sends().sendBlocked(peer); // first, because the peer gets no messages from now on
        closing = true;
        closingSince = context.nanoTime();
        lingerNanos = Settings.nanos(linger);
        endpoints.owner().leaving(peer);
        if (linger.isZero() || isIdle()) {
            closeNow();
        } else {
            lingers = context.schedule(this::closeNow, lingerNanos);
        }
    }

    /** Called when the peer is connected, and receives messages. */
    @Override
    public void joined() {
        ready.succeed(this);
    }

    /** Called before this side ends a working connection. The next delay is no longer than after a first failure. */
    @Override
    public void expectEnd() {
        backoff.reset();
    }

    /** Called when a message has left. If it was the last message of a closing connector, the connection ends. */
    @Override
    public void drained() {
        if (closing && isIdle()) {
            closeNow();
        }
    }

    /**
     * Stops the connector. If it is connected, its peer has the rest of the linger time to read the written messages.
     */
    public void closeNow() {
        if (state == State.STOPPED) {
            return;
        }
        closing = true;
        long left = lingerNanos - (context.nanoTime() - closingSince);
        PeerHandler now = link;
        stopClosed(null);
        if (now != null && !context.isFinished()) { // otherwise the socket closes all connections
            now.close(left);
        }
    }

    /** A connection of this connector. */
    private final class Attempt implements PeerHandler.Origin {

        @Override
        public String endpoint() {
            return text();
        }

        @Override
        public @Nullable ZMTPEndpoint listener() {
            return null;
        }

        @Override
        public Peer peer() {
            return peer;
        }

        @Override
        public void up() {
            state = State.UP;
            addresses.worked();
            lastFailure = null;
            log.up();
        }

        @Override
        public void ended(PeerHandler ended, Throwable cause) {
            if (state == State.STOPPED) {
                closed.complete(null);
            }
            if (ended != link || state == State.CONNECTING) {
                return; // the next address is tried, or the connector has stopped
            }
            Throwable why = cause;
            if (ended.upSince() != 0) {
                awaySince = context.nanoTime();
                long lived = awaySince - ended.upSince();
                backoff.lived(lived);
                why = refusedTopics.of(cause, ended.commandsWritten(), lived);
            }
            if (state == State.HANDSHAKING && isOfAddress(why)) {
                addresses.failed();
            }
            if (triesTheNextAfter(why)) {
                connectToNext(why);
            } else {
                failed(why);
            }
        }
    }
}
