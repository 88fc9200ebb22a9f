package dev.zmtp.socket;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Result of {@link ZMTPSocket#bind} or {@link ZMTPSocket#connect}. It is a listener, or a connection that is
 * reestablished whenever it ends. It lasts until the endpoint or the socket is closed. All methods can be called from
 * any thread.
 */
public interface ZMTPEndpoint extends AutoCloseable {

    /** State of an endpoint. */
    enum State {
        /** The address is being looked up. */
        RESOLVING,
        /** A connection is being established. */
        CONNECTING,
        /** A connection exists, and its handshake is in progress. */
        HANDSHAKING,
        /** The handshake has succeeded. */
        UP,
        /** The endpoint waits before its next attempt. */
        RETRYING,
        /** The endpoint accepts peers. */
        LISTENING,
        /** The endpoint was closed, has failed, or makes no further attempts. */
        STOPPED
    }

    /**
     * Returns the text of the endpoint, such as {@code tcp://127.0.0.1:5555}. For a listener, it contains the real
     * port.
     */
    String text();

    /**
     * Returns the peer that this endpoint connects to, whether or not it is connected. It is the same object until the
     * endpoint is closed. Returns null for a listener, whose accepted peers are in {@link ZMTPSocket#peers()}.
     */
    @Nullable
    ZMTPPeer peer();

    /** Returns the current state. */
    State state();

    /**
     * Returns a future that completes with this endpoint when it listens, or after the first handshake. If the endpoint
     * stops earlier, the future fails with a {@link ZMTPSocketException}. The reason is {@code BIND_FAILED}, whose
     * cause is a {@link java.net.BindException} if the address, or the file, cannot be bound; {@code PEER_DOWN} if the
     * endpoint makes no further attempts, with the last failure as its cause; or {@code CLOSED}.
     */
    CompletableFuture<ZMTPEndpoint> readyFuture();

    /**
     * Waits until the endpoint is ready.
     *
     * @return this
     * @throws ZMTPSocketException if the endpoint stops earlier, with the cause
     * @throws io.netty.util.concurrent.BlockingOperationException on an event loop
     */
    ZMTPEndpoint sync() throws InterruptedException;

    /**
     * Like {@link #sync()}, for at most {@code timeout}.
     *
     * @throws ZMTPSocketException with {@code TIMEOUT}, and the last failure as its cause
     */
    ZMTPEndpoint sync(Duration timeout) throws InterruptedException;

    /** Starts the next attempt now if the endpoint is waiting. Does nothing to a listener. */
    void retryNow();

    /**
     * Closes the endpoint. A listener accepts no more peers, but its existing peers remain connected. A connection
     * accepts no more messages, and ends when its queued messages have left, at the latest after
     * {@link ZMTPSocketConfig#linger()}. This method does not wait. A second call does nothing.
     */
    @Override
    void close();
}
