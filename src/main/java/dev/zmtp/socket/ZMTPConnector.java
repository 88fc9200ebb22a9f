package dev.zmtp.socket;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint that a socket connects to. Whenever the connection ends, it connects again, as its {@link ZMTPReconnect}
 * says. Names are resolved for each attempt, and all their addresses are tried.
 *
 * <p>All methods may be called from any thread.
 */
public final class ZMTPConnector {

    /** What a connector does. */
    public enum State {
        /** It has not started. */
        IDLE,
        /** The name is being resolved. */
        RESOLVING,
        /** A connection is being made. */
        CONNECTING,
        /** There is a connection, and its handshake is going on. */
        HANDSHAKING,
        /** The handshake has succeeded. */
        UP,
        /** It waits before it tries again. */
        WAITING,
        /** It has given up, or was closed. */
        STOPPED
    }

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(ZMTPConnector.class);

    private final SocketCore core;
    private final Endpoint endpoint;
    private final ZMTPPeer peer;
    private final Backoff backoff;
    private final CompletableFuture<ZMTPPeer> up = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile State state = State.IDLE;

    // On the event loop
    private final Queue<SocketAddress> addresses = new ArrayDeque<>(1);
    private @Nullable AutoCloseable whenBound;
    private @Nullable ScheduledFuture<?> retry;
    private @Nullable ScheduledFuture<?> lingers;
    private @Nullable PeerHandler link;
    private boolean closing;
    private @Nullable Throwable lastFailure;

    ZMTPConnector(SocketCore core, Endpoint endpoint) {
        this.core = core;
        this.endpoint = endpoint;
        this.peer = new ZMTPPeer(core, this);
        this.backoff = new Backoff(
                core.config().reconnect(), () -> ThreadLocalRandom.current().nextLong());
    }

    /** The endpoint, as it was given to {@link ZMTPSocket#connect}. */
    public String endpoint() {
        return endpoint.toString();
    }

    /** The present state. */
    public State state() {
        return state;
    }

    /** The peer at the other end, whether it is connected or not. */
    public ZMTPPeer peer() {
        return peer;
    }

    /** Succeeds with the first handshake; fails if the connector stops before. */
    public CompletableFuture<ZMTPPeer> up() {
        return up.copy();
    }

    /** Tries again now if it waits. */
    public void retryNow() {
        core.tryExecute(() -> {
            if (state == State.WAITING) {
                attempt();
            }
        });
    }

    /**
     * Accepts no more messages for this peer, and ends the connection when its queue is empty, at the latest after the
     * {@link ZMTPSocketConfig#linger()}. Messages that are left fail.
     *
     * @return completes when the connection has ended
     */
    public CompletableFuture<Void> close() {
        if (!core.tryExecute(() -> close(core.config().linger()))) {
            closed.complete(null);
        }
        return closed.copy();
    }

    @Override
    public String toString() {
        return "ZMTPConnector{" + endpoint + ", " + state + "}";
    }

    // On the event loop

    void start() {
        core.routing().queue(peer, true);
        try {
            whenBound = endpoint.address().whenBound(this::retryNow);
        } catch (RuntimeException e) {
            logger.warn("{}: nobody tells when it is bound", endpoint, e);
        }
        attempt();
    }

    private void attempt() {
        if (core.eventLoop().isShuttingDown()) { // a channel made now would outlive it
            closeNow();
            return;
        }
        cancel(retry);
        retry = null;
        state = State.RESOLVING;
        core.events().fire(new ZMTPSocketEvent.Connecting(endpoint(), backoff.failures() + 1));
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

    /** Runs on the resolver's executor if it may block. */
    private void resolve() {
        List<? extends SocketAddress> found;
        try {
            found = endpoint.address().resolve();
        } catch (Throwable e) { // the transport may be a user's
            core.executeHere(() -> failed(e));
            return;
        }
        core.executeHere(() -> resolved(found));
    }

    private void resolved(List<? extends SocketAddress> found) {
        if (state != State.RESOLVING) {
            return; // it was closed in the meantime
        }
        addresses.clear();
        addresses.addAll(found);
        connectToNext(new IOException(endpoint + ": the name has no address"));
    }

    private void connectToNext(Throwable cause) {
        SocketAddress address = addresses.poll();
        if (address == null) {
            failed(cause);
            return;
        }
        state = State.CONNECTING;
        PeerHandler handler = new PeerHandler(core, new Attempt());
        link = handler;
        Bootstrap bootstrap = new Bootstrap()
                .group(core.eventLoop())
                .channelFactory(endpoint.transport()::channel)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int)
                        core.config().connectTimeout().toMillis())
                .handler(core.setup().connecting(endpoint, handler));
        Sockets.options(bootstrap, core.config(), endpoint);
        bootstrap
                .connect(address, endpoint.address().source())
                .addListener(
                        (ChannelFuture connected) -> // on another thread if no channel could be made
                        core.executeHere(() -> connected(connected.channel(), connected.cause())));
    }

    private void connected(Channel channel, @Nullable Throwable cause) {
        if (cause != null) {
            if (state == State.CONNECTING) {
                connectToNext(cause);
            }
        } else if (state == State.CONNECTING) {
            state = State.HANDSHAKING;
            addresses.clear();
            SocketAddress local = channel.localAddress();
            if (local != null && local.equals(channel.remoteAddress())) { // by an ephemeral port
                Objects.requireNonNull(link).refuse("connected to itself");
            }
        }
    }

    /** Called when the attempt or the connection has ended. */
    private void failed(Throwable cause) {
        if (state == State.STOPPED || state == State.WAITING) {
            return;
        }
        link = null;
        lastFailure = cause;
        if (closing && peer.queue().isEmpty()) {
            stop(cause);
            return;
        }
        long wait = backoff.next(endpoint(), Backoff.kindOf(cause), cause);
        if (wait < 0) {
            stop(cause);
            core.events().fire(new ZMTPSocketEvent.Stopped(endpoint(), cause));
            return;
        }
        state = State.WAITING;
        core.events()
                .fire(new ZMTPSocketEvent.RetryScheduled(
                        endpoint(), backoff.failures(), Duration.ofNanos(wait), cause));
        retry = core.schedule(this::attempt, wait);
    }

    /** What ended the last attempt or connection; null while it is connected. */
    @Nullable
    Throwable lastFailure() {
        return lastFailure;
    }

    /** Whether its peer takes no more messages. */
    boolean isClosing() {
        return closing || state == State.STOPPED;
    }

    private void stop(Throwable cause) {
        state = State.STOPPED;
        cancel(retry);
        cancel(lingers);
        addresses.clear();
        if (whenBound != null) {
            Sockets.closeQuietly(whenBound);
        }
        core.stopped(this);
        up.completeExceptionally(cause);
        if (link == null || !link.isOpen()) {
            closed.complete(null);
        }
    }

    private static void cancel(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Whether all that was sent has left. */
    private boolean isIdle() {
        return peer.queue().isEmpty() && (link == null || link.isIdle());
    }

    void close(Duration linger) {
        if (closing || state == State.STOPPED) {
            return;
        }
        closing = true;
        core.routing().queue(peer, false);
        if (linger.isZero() || isIdle()) {
            closeNow();
        } else {
            lingers = core.schedule(this::closeNow, Settings.nanos(linger));
        }
    }

    /** Called when the peer is there, and gets messages. */
    void joined() {
        up.complete(peer);
    }

    /** Called when a message has left. If it was the last one of a connector that is closing, the connection ends. */
    void drained() {
        if (closing && isIdle()) {
            closeNow();
        }
    }

    void closeNow() {
        closing = true;
        if (state == State.STOPPED) {
            return;
        }
        PeerHandler now = link;
        stop(new ZMTPSocketException(ZMTPSocketException.Reason.CLOSED, "the connector is closed"));
        if (now != null) {
            now.close();
        }
    }

    /** One connection of this connector. */
    private final class Attempt implements PeerHandler.Origin {

        @Override
        public String endpoint() {
            return ZMTPConnector.this.endpoint();
        }

        @Override
        public ZMTPPeer peer() {
            return peer;
        }

        @Override
        public void began(PeerHandler link) {}

        @Override
        public void up() {
            state = State.UP;
            lastFailure = null;
        }

        @Override
        public void ended(PeerHandler ended, Throwable cause) {
            if (state == State.STOPPED) {
                closed.complete(null);
            }
            if (ended != link || state == State.CONNECTING) {
                return; // the next address is tried, or the connector has stopped
            }
            if (ended.upSince() != 0) {
                backoff.lived(core.nanoTime() - ended.upSince());
            }
            failed(cause);
        }
    }
}
