package dev.zmtp.socket;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The result of {@link ZMTPSocket#bind} or {@link ZMTPSocket#connect}: a listener, or a connection that is made again
 * whenever it ends. It lasts until it or the socket is closed. All methods may be called from any thread.
 */
public interface ZMTPEndpoint extends AutoCloseable {

    /** The state of an endpoint. */
    enum State {
        /** Its address is being looked up. */
        RESOLVING,
        /** A connection is being made. */
        CONNECTING,
        /** There is a connection, whose handshake goes on. */
        HANDSHAKING,
        /** The handshake has succeeded. */
        UP,
        /** It waits before it tries again. */
        WAITING,
        /** Peers are accepted. */
        LISTENING,
        /** It was closed, has failed, or tries no more. */
        STOPPED
    }

    /** The text of the endpoint, such as {@code tcp://127.0.0.1:5555}. Once it listens, it has the real port. */
    String text();

    /**
     * The peer that it connects to, whether that is there or not: one and the same until this is closed. Null if it is
     * bound. {@link ZMTPSocket#peers()} has those that are accepted.
     */
    @Nullable
    ZMTPPeer peer();

    /** What it does now. */
    State state();

    /**
     * Completes with this when it listens, or with the first handshake. Fails if it stops before, with a
     * {@link ZMTPSocketException}: {@code BIND_FAILED}, whose cause is a {@link java.net.BindException} if the
     * address, or the file, cannot be bound; {@code PEER_DOWN} if it tries no more, with the last failure as
     * its cause; {@code CLOSED}.
     */
    CompletableFuture<ZMTPEndpoint> ready();

    /**
     * Waits until it is ready.
     *
     * @return this
     * @throws ZMTPSocketException if it stops before, with the cause
     * @throws io.netty.util.concurrent.BlockingOperationException on an event loop
     */
    ZMTPEndpoint sync() throws InterruptedException;

    /**
     * As {@link #sync()}, no longer than {@code timeout}.
     *
     * @throws ZMTPSocketException with {@code TIMEOUT}, and the last failure as its cause
     */
    ZMTPEndpoint sync(Duration timeout) throws InterruptedException;

    /** Tries again now if it waits. Does nothing to a listener. */
    void retryNow();

    /**
     * Ends it. A listener accepts no more peers, and those that are there stay. A connection takes no more messages,
     * and ends when what waits for it has left, at the latest after {@link ZMTPSocketConfig#linger()}. This does not
     * wait. A second call does nothing.
     */
    @Override
    void close();
}
