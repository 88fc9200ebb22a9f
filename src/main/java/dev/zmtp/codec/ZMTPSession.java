package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.security.ZMTPAuthDecision;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of a connection, as negotiated in the handshake. Belongs to a single codec and channel.
 *
 * <p>The negotiated values are defined in RFC 37, "Version Negotiation" and "Connection Metadata" (RFC 23 for ZMTP
 * 3.0). They can be read from any thread once {@link #handshakeFuture()} is complete.
 *
 * <p>Sessions are created by {@link #from}. Implement this interface only to test an encoder, a decoder or a handler
 * without a connection.
 */
public interface ZMTPSession {

    /** Returns a new session for a single connection, to be passed to {@link ZMTPCodec#from(ZMTPSession)}. */
    static ZMTPSession from(ZMTPConfig config) {
        MemoryLedger ledger =
                Objects.requireNonNull(config, "config").memoryBudget().ledger();
        return new Session(config, ledger);
    }

    /** Returns the configuration of this side. */
    ZMTPConfig config();

    /**
     * Returns a future that completes when the handshake completes, or fails with the reason. Listeners are notified on
     * the channel's event loop. If the channel is registered but never connected, the future fails when the channel
     * is closed.
     *
     * <p>The event with the same result is fired directly afterwards, even if a listener has closed the channel. In
     * that case no message follows.
     */
    Future<ZMTPHandshake> handshakeFuture();

    /**
     * Returns the identity that the peer announced, or an identity created by the config's generator. Read-only.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    ByteBuffer peerIdentity();

    /**
     * Returns whether the peer announced no identity.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    boolean isPeerAnonymous();

    /**
     * Returns the version that both sides speak.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    ZMTPVersion negotiatedVersion();

    /**
     * Returns the user ID that the authenticator assigned to the peer, or an empty string if there is no user ID or no
     * authenticator.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    String userId();

    /**
     * Returns the authenticator's decision about the peer, with any metadata attached to it, or null if there is no
     * authenticator.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    @Nullable
    ZMTPAuthDecision decision();

    /**
     * Returns the peer's address. This is the value of {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it, for
     * example behind a proxy. Otherwise it is the channel's remote address, or the address that the channel is
     * connecting to. Returns null if none of these addresses is known. Unlike the other methods, this method can be
     * called at any time.
     */
    @Nullable
    SocketAddress peerAddress();

    /**
     * Returns the address of this side when the connection began, such as the local address that the peer has connected
     * to. Returns null before that, and if the transport does not know the address. This method can be called at any
     * time.
     */
    @Nullable
    SocketAddress localAddress();

    /**
     * Returns the number of messages of this connection whose last byte the transport has written to the socket. This
     * method can be called at any time, from any thread. The number never decreases, and is final once the handlers
     * after the codec have received {@code channelInactive}. The number already includes a message when a listener of
     * its promise is notified.
     *
     * <p>Each {@code ZMTPMessage} and each object written by the config's encoder counts as one message. Subscriptions,
     * memberships, barriers and the codec's own commands do not count.
     *
     * <p>After the end of the connection, a message that was written but is not counted can still have arrived, because
     * a socket can accept part of a buffer. A counted message can have been lost, because a reset discards the data
     * that the operating system has not sent yet.
     */
    long messagesWritten();
}
