package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.security.ZMTPDecision;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * State of one connection, as negotiated in the handshake. Belongs to one codec and one channel.
 *
 * <p>What is negotiated: RFC 37, "Version Negotiation" and "Connection Metadata" (RFC 23 for ZMTP 3.0). May be read
 * from any thread once {@link #handshakeFuture()} is complete.
 *
 * <p>Made by {@link #from}. Implement it only to test an encoder, a decoder or a handler without a connection.
 */
public interface ZMTPSession {

    /** Returns a new session for one connection, to be given to {@link ZMTPCodec#from(ZMTPSession)}. */
    static ZMTPSession from(ZMTPConfig config) {
        MemoryLedger ledger =
                Objects.requireNonNull(config, "config").memoryBudget().ledger();
        return new Session(config, ledger);
    }

    /** The configuration of this side. */
    ZMTPConfig config();

    /**
     * Completes when the handshake completes, or fails with the reason. Listeners are notified on the codec's executor,
     * by default the channel's event loop. If the channel is never connected, the future fails when it is closed.
     *
     * <p>The event with the same result is fired right after, also if a listener has closed the channel. No message
     * follows then.
     */
    Future<ZMTPHandshake> handshakeFuture();

    /**
     * The identity that the peer announced, or one made for it by the config's generator. Read-only.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    ByteBuffer peerIdentity();

    /**
     * Whether the peer announced no identity.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    boolean isPeerAnonymous();

    /**
     * The version that both sides speak.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    ZMTPVersion negotiatedVersion();

    /**
     * The user id that the authenticator gave the peer; empty if it gave none, or there is none.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    String userId();

    /**
     * What the authenticator decided about the peer, and any metadata it attached; null if there is no authenticator.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    @Nullable
    ZMTPDecision decision();

    /**
     * The peer's address: the value of {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it, as behind a proxy,
     * otherwise the channel's remote address, or the address that it is being connected to. Null if none of these is
     * known. Unlike the rest, it may be asked for at any time.
     */
    @Nullable
    SocketAddress peerAddress();

    /**
     * The address of this side when the connection began, such as the one of several that a peer has connected to. Null
     * before, and if the transport does not know. It may be asked for at any time.
     */
    @Nullable
    SocketAddress localAddress();

    /**
     * How many messages of this connection the transport has taken: the last byte of each was written to the socket.
     * May be asked for at any time, from any thread. It never decreases, and changes no more once the handlers after
     * the codec have got {@code channelInactive}. A listener of a message's promise finds that message counted.
     *
     * <p>Each {@code ZMTPMessage} and each object that the config's encoder wrote counts as one. Subscriptions,
     * memberships, barriers and what the codec writes of its own accord do not count.
     *
     * <p>After the end of the connection, a message that was written and does not count may have arrived nevertheless:
     * the socket takes part of a buffer, too. One that counts may not have arrived, as a connection that is reset loses
     * what the operating system had yet to send.
     */
    long messagesWritten();
}
