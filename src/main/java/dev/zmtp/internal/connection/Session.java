package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.admission.LimitedSession;
import dev.zmtp.internal.admission.PeerAddress;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.runtime.WrittenMessages;
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
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The session of one connection, with what only the connection itself may ask and do. */
public final class Session implements LimitedSession, WrittenMessages {

    private final ZMTPConfig config;
    private final MemoryLedger ledger;
    private final HandshakePromise handshake = new HandshakePromise();

    /** How many computations run for the handshake, or wait to run, and how many questions the authenticator has. */
    private final AtomicInteger work = new AtomicInteger();

    /** Set by the codec's executor alone. */
    private final AtomicLong messagesWritten = new AtomicLong();

    /** Used by the codec's executor alone. */
    private @Nullable IntConsumer whenWritten;

    /** Used by limiters on their event loop, before anything is read. */
    private boolean pauseClaimed;

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

    private volatile @Nullable SocketAddress localAddress;

    public Session(ZMTPConfig config, MemoryLedger ledger) {
        this.config = config;
        this.ledger = ledger;
    }

    @Override
    public ZMTPConfig config() {
        return config;
    }

    @Override
    public Future<ZMTPHandshake> handshakeFuture() {
        return handshake;
    }

    @Override
    public ByteBuffer peerIdentity() {
        handshake();
        return Objects.requireNonNull(peerIdentity).duplicate();
    }

    @Override
    public boolean isPeerAnonymous() {
        return !handshake().remoteIdentity().hasRemaining();
    }

    @Override
    public ZMTPVersion negotiatedVersion() {
        return handshake().negotiatedVersion();
    }

    @Override
    public String userId() {
        ZMTPDecision made = decision();
        return made == null ? "" : made.userId();
    }

    @Override
    public @Nullable ZMTPDecision decision() {
        handshake();
        return decision;
    }

    @Override
    public @Nullable SocketAddress peerAddress() {
        Channel known = channel;
        SocketAddress behindProxy =
                known == null ? null : known.attr(PeerAddress.KEY).get();
        return behindProxy == null ? connectedTo : behindProxy;
    }

    @Override
    public @Nullable SocketAddress localAddress() {
        return localAddress;
    }

    @Override
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
    public synchronized void bind(ChannelHandlerContext ctx) {
        if (handshake.executor != null) {
            throw new IllegalStateException("session: already in use (expected: one for each channel)");
        }
        handshake.executor = ctx.executor();
        channel = ctx.channel();
    }

    /** The channel is connected to {@code peer}, or is about to be; null if the transport does not know. */
    public void connectedTo(@Nullable SocketAddress peer) {
        if (peer != null) {
            connectedTo = peer;
        }
    }

    /** The channel is connected: a closed one does not know its addresses. */
    void connected(Channel connected) {
        connectedTo(connected.remoteAddress());
        localAddress = connected.localAddress();
    }

    /** The transport has taken this many more messages. On the codec's executor. */
    public void written(int messages) {
        if (messages > 0) {
            messagesWritten.setRelease(messagesWritten.getPlain() + messages);
            IntConsumer listener = whenWritten;
            if (listener != null) {
                listener.accept(messages);
            }
        }
    }

    @Override
    public void onWritten(IntConsumer listener) {
        whenWritten = listener;
    }

    /** Whether the peer subscribes for others, too: proxies use an XSUB (RFC 29), and a SUB stands for one. */
    public boolean isRelay() {
        ZMTPHandshake known = agreed;
        return known != null && known.remoteSocketType() == ZMTPSocketType.XSUB;
    }

    /** Describes the peer in log and exception messages. */
    public String peer() {
        String address = String.valueOf(peerAddress());
        ZMTPHandshake known = agreed;
        if (known == null || !known.remoteIdentity().hasRemaining()) {
            return address;
        }
        return address + " with identity 0x" + ByteBufUtil.hexDump(Unpooled.wrappedBuffer(known.remoteIdentity()));
    }

    /** This side begins to compute or to decide something, and the peer waits for that. */
    public void beginWork() {
        work.incrementAndGet();
    }

    /** What had begun has ended. On any thread. */
    public void endWork() {
        work.decrementAndGet();
    }

    @Override
    public MemoryLedger ledger() {
        return ledger;
    }

    @Override
    public boolean claimPause() {
        boolean first = !pauseClaimed;
        pauseClaimed = true;
        return first;
    }

    @Override
    public boolean isWorking() {
        return work.get() > 0;
    }

    /** Remembers what the authenticator decided. */
    public void decide(ZMTPDecision decision) {
        this.decision = decision;
    }

    /**
     * Makes the session usable; {@link #succeed} announces it. Not if the generator of identities, which is user code,
     * has ended the handshake.
     */
    public void agree(ZMTPHandshake result) {
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
    public void succeed() {
        handshake.trySuccess(handshake());
    }

    void fail(Throwable cause) {
        agreed = null;
        handshake.tryFailure(cause);
    }

    /** Returns whether the handshake is complete and that is not announced yet: what was held is being sent. */
    public boolean isAgreed() {
        return agreed != null && !handshake.isDone();
    }

    /** Returns whether the handshake has succeeded or failed, and that was announced. */
    public boolean isHandshakeDone() {
        return handshake.isDone();
    }

    /** Shows the peer and the state of the handshake, on one line. */
    @Override
    public String toString() {
        EventText text = new EventText("ZMTPSession").connection(config.socketType(), peerAddress());
        ZMTPHandshake done = agreed;
        if (done != null) {
            return text.handshake(done, peerIdentity).decision(decision).toString();
        }
        Throwable cause = handshake.cause();
        return (cause == null ? text.incomplete() : text.cause(cause)).toString();
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
