package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPDecision;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * State of one connection, as negotiated in the handshake. Belongs to one codec and one channel.
 *
 * <p>What is negotiated: RFC 37, "Version Negotiation" and "Connection Metadata" (RFC 23 for ZMTP 3.0). May be read
 * from any thread once {@link #handshakeFuture()} is complete.
 */
public final class ZMTPSession {

    private final ZMTPConfig config;
    private final HandshakePromise handshake = new HandshakePromise();

    /** How many computations run for the handshake, or wait to run, and how many questions the authenticator has. */
    private final AtomicInteger work = new AtomicInteger();

    /** Set by the codec's executor alone. */
    private final AtomicLong messagesWritten = new AtomicLong();

    private @Nullable ByteBuffer peerIdentity;
    private @Nullable ZMTPDecision decision;

    /**
     * What the handshake agreed on. Until the handshake is done it is agreed, but not announced: held writes leave
     * then.
     */
    private volatile @Nullable ZMTPHandshake agreed;

    /** The channel, once there is one. */
    private volatile @Nullable Channel channel;

    /**
     * The peer's address when the connection began, or the address that was connected to: a closed channel has none.
     */
    private volatile @Nullable SocketAddress connectedTo;

    private ZMTPSession(ZMTPConfig config) {
        this.config = Objects.requireNonNull(config, "config");
    }

    /** Returns a new session for one connection, to be given to {@link ZMTPCodec#from(ZMTPSession)}. */
    public static ZMTPSession from(ZMTPConfig config) {
        return new ZMTPSession(config);
    }

    /** The configuration of this side. */
    public ZMTPConfig config() {
        return config;
    }

    /**
     * Completes when the handshake completes, or fails with the reason. Listeners are notified on the codec's executor,
     * by default the channel's event loop. If the channel is never connected, the future fails when it is closed.
     *
     * <p>The event with the same result is fired right after, also if a listener has closed the channel. No message
     * follows then.
     */
    public Future<ZMTPHandshake> handshakeFuture() {
        return handshake;
    }

    /**
     * The identity that the peer announced, or one made for it by the config's generator. Read-only.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    public ByteBuffer peerIdentity() {
        handshake();
        return Objects.requireNonNull(peerIdentity).duplicate();
    }

    /**
     * Whether the peer announced no identity.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    public boolean isPeerAnonymous() {
        return !handshake().remoteIdentity().hasRemaining();
    }

    /**
     * The version that both sides speak.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    public ZMTPVersion negotiatedVersion() {
        return handshake().negotiatedVersion();
    }

    /**
     * The user id that the authenticator gave the peer; empty if it gave none, or there is none.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    public String userId() {
        ZMTPDecision made = decision();
        return made == null ? "" : made.userId();
    }

    /**
     * What the authenticator decided about the peer, and any metadata it attached; null if there is no authenticator.
     *
     * @throws IllegalStateException if the handshake is not complete
     */
    public @Nullable ZMTPDecision decision() {
        handshake();
        return decision;
    }

    /**
     * The peer's address: the value of {@link ZMTPCodec#PEER_ADDRESS} if a handler has set it, as behind a proxy,
     * otherwise the channel's remote address, or the address that it is being connected to. Null if none of these is
     * known. Unlike the rest, it may be asked for at any time.
     */
    public @Nullable SocketAddress peerAddress() {
        Channel known = channel;
        SocketAddress behindProxy =
                known == null ? null : known.attr(ZMTPCodec.PEER_ADDRESS).get();
        return behindProxy == null ? connectedTo : behindProxy;
    }

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
    public long messagesWritten() {
        return messagesWritten.get();
    }

    private ZMTPHandshake handshake() {
        ZMTPHandshake done = agreed;
        if (done == null) {
            throw new IllegalStateException("handshake not complete");
        }
        return done;
    }

    /** Ties this session to the connection of {@code ctx}, on whose executor its future completes. */
    synchronized void bind(ChannelHandlerContext ctx) {
        if (handshake.executor != null) {
            throw new IllegalStateException("session: already in use (expected: one for each channel)");
        }
        handshake.executor = ctx.executor();
        channel = ctx.channel();
    }

    /** The channel is connected to {@code peer}, or is about to be; null if the transport does not know. */
    void connectedTo(@Nullable SocketAddress peer) {
        if (peer != null) {
            connectedTo = peer;
        }
    }

    /** The transport has taken so many more messages. On the codec's executor. */
    void written(int messages) {
        if (messages > 0) {
            messagesWritten.setRelease(messagesWritten.getPlain() + messages);
        }
    }

    /** Describes the peer in log and exception messages. */
    String peer() {
        String address = String.valueOf(peerAddress());
        ZMTPHandshake known = agreed;
        if (known == null || !known.remoteIdentity().hasRemaining()) {
            return address;
        }
        return address + " with identity 0x" + ByteBufUtil.hexDump(Unpooled.wrappedBuffer(known.remoteIdentity()));
    }

    /** This side begins to compute or to decide something, and the peer waits for that. */
    void beginWork() {
        work.incrementAndGet();
    }

    /** What had begun has ended. On any thread. */
    void endWork() {
        work.decrementAndGet();
    }

    /** Returns whether the peer waits for this side: for what a mechanism computes, or an authenticator decides. */
    boolean isWorking() {
        return work.get() > 0;
    }

    /** Remembers what the authenticator decided. */
    void decide(ZMTPDecision decision) {
        this.decision = decision;
    }

    /**
     * Makes the session usable; {@link #succeed} announces it. Not if the generator of identities, which is user code,
     * has ended the handshake.
     */
    void agree(ZMTPHandshake result) {
        ByteBuffer announced = result.remoteIdentity();
        ByteBuffer identity = announced.hasRemaining()
                ? announced
                : config.identityGenerator().generateIdentity(this).asReadOnlyBuffer();
        if (!handshake.isDone()) {
            peerIdentity = identity;
            agreed = result;
        }
    }

    /** Completes the future. */
    void succeed() {
        handshake.trySuccess(handshake());
    }

    void fail(Throwable cause) {
        agreed = null;
        handshake.tryFailure(cause);
    }

    /** Returns whether the handshake is complete and that is not announced yet: what was held is being sent. */
    boolean isAgreed() {
        return agreed != null && !handshake.isDone();
    }

    /** Returns whether the handshake has succeeded or failed, and that was announced. */
    boolean isHandshakeDone() {
        return handshake.isDone();
    }

    /** Shows the peer and the state of the handshake, on one line. */
    @Override
    public String toString() {
        EventText text = new EventText("ZMTPSession");
        ZMTPHandshake done = agreed;
        if (done != null) {
            return describe(text, done).toString();
        }
        Throwable cause = handshake.cause();
        return (cause == null ? describe(text).incomplete() : describe(text).cause(cause)).toString();
    }

    EventText describe(EventText text) {
        return text.connection(config.socketType(), peerAddress());
    }

    EventText describe(EventText text, ZMTPHandshake result) {
        ByteBuffer announced = result.remoteIdentity();
        ByteBuffer generated = peerIdentity;
        String identity = "anonymous";
        if (announced.hasRemaining()) {
            identity = EventText.bytes(announced);
        } else if (generated != null) {
            identity = EventText.bytes(generated) + " (generated)";
        }
        ZMTPDecision made = decision;
        return describe(text).handshake(result, identity).userId(made == null ? "" : made.userId());
    }

    /** A session exists before its channel does, and so does its future: the executor comes later. */
    private static final class HandshakePromise extends DefaultPromise<ZMTPHandshake> {
        private volatile @Nullable EventExecutor executor;

        @Override
        @SuppressWarnings("NullAway") // Netty's own promises of channels that are not registered do the same.
        protected EventExecutor executor() {
            return executor;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            // One waiter must not cancel the handshake for all others. To end it, close the channel.
            return false;
        }
    }
}
