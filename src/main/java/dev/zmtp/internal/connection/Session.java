package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.admission.LimitedSession;
import dev.zmtp.internal.admission.PeerAddress;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.runtime.PingedSession;
import dev.zmtp.internal.runtime.TransportCounts;
import dev.zmtp.internal.runtime.UpgradedSession;
import dev.zmtp.internal.runtime.VirtualClock;
import dev.zmtp.security.ZMTPAuthDecision;
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

/** The session of a connection, with the methods that are reserved for the connection itself. */
public final class Session implements LimitedSession, PingedSession, TransportCounts, UpgradedSession {

    /** Indicates whether a PING or PONG of the peer was read. */
    private enum Pings {
        /** None was read. */
        NONE,
        /** None was read, but the peer is not read. */
        UNREAD,
        SEEN
    }

    private final ZMTPConfig config;
    private final MemoryLedger ledger;
    private final HandshakePromise handshake = new HandshakePromise();

    /**
     * The number of computations that run for the handshake or wait to run, plus the pending decisions of the
     * authenticator.
     */
    private final AtomicInteger work = new AtomicInteger();

    /** Set only by the codec's executor. */
    private final AtomicLong messagesWritten = new AtomicLong();

    /** Used only by the codec's executor. */
    private TransportCounts.@Nullable Listener counts;

    /**
     * Bytes transferred before there was a listener, which are those of a handshake. Without a listener they stop at
     * the maximum. Used only by the codec's executor.
     */
    private int receivedBefore;

    private int sentBefore;

    /** Used by the codec's executor. */
    private String mechanismName = "";

    /** Used by the codec's executor. */
    private boolean heardBefore;

    /** Used by the codec's executor. */
    private Pings pings = Pings.NONE;

    /** Used by limiters on their event loop, before the first read. */
    private boolean pauseClaimed;

    private @Nullable ByteBuffer peerIdentity;
    private @Nullable ZMTPAuthDecision decision;

    /**
     * The result of the handshake. Until the handshake is done the result is agreed but not announced, because held
     * writes are sent first.
     */
    private volatile @Nullable ZMTPHandshake agreed;

    /** The channel, once it exists. */
    private volatile @Nullable Channel channel;

    /**
     * The peer's address when the connection began, or the address that was connected to. A closed channel has none.
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

    /** Called when the mechanism of the connection was created. */
    void speaks(String name) {
        mechanismName = name;
    }

    @Override
    public String mechanismName() {
        return mechanismName;
    }

    @Override
    public void heardBefore() {
        heardBefore = true;
    }

    @Override
    public long nanoTime() {
        Channel its = channel;
        return its != null && its.eventLoop() instanceof VirtualClock clock ? clock.currentNanos() : System.nanoTime();
    }

    @Override
    public boolean knowsPings() {
        return pings == Pings.SEEN;
    }

    @Override
    public void pingUnread(boolean always) {
        if (pings != Pings.SEEN) {
            pings = always ? Pings.UNREAD : Pings.NONE;
        }
    }

    /** Returns whether the peer gets PINGs although none of it was read, see {@link #pingUnread}. */
    public boolean pingsUnread() {
        return pings == Pings.UNREAD;
    }

    /** Called when the peer has sent a PING or a PONG. */
    public void pinged() {
        pings = Pings.SEEN;
    }

    boolean hasHeardBefore() {
        return heardBefore;
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
        ZMTPAuthDecision made = decision();
        return made == null ? "" : made.userId();
    }

    @Override
    public @Nullable ZMTPAuthDecision decision() {
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

    /** Binds this session to the connection of {@code ctx}, on whose executor its future completes. */
    public synchronized void bind(ChannelHandlerContext ctx) {
        if (handshake.executor != null) {
            throw new IllegalStateException("the session is already used by another channel");
        }
        handshake.executor = ctx.executor();
        channel = ctx.channel();
    }

    /**
     * Notes that the channel is connected to {@code peer}, or is about to be; null if the transport does not provide
     * the address.
     */
    public void connectedTo(@Nullable SocketAddress peer) {
        if (peer != null) {
            connectedTo = peer;
        }
    }

    /** Notes the addresses of the connected channel, which are no longer available once it is closed. */
    void connected(Channel connected) {
        connectedTo(connected.remoteAddress());
        localAddress = connected.localAddress();
    }

    /** Called when the transport has accepted this many more messages. On the codec's executor. */
    public void written(int messages) {
        if (messages > 0) {
            messagesWritten.setRelease(messagesWritten.getPlain() + messages);
            if (counts != null) {
                counts.written(messages);
            }
        }
    }

    /** Called when the transport has received and sent these bytes. On the codec's executor. */
    void transferred(long received, long sent) {
        if (counts != null) {
            counts.transferred(received, sent);
        } else {
            receivedBefore = (int) Math.min(receivedBefore + received, Integer.MAX_VALUE);
            sentBefore = (int) Math.min(sentBefore + sent, Integer.MAX_VALUE);
        }
    }

    @Override
    public void listen(TransportCounts.Listener listener) {
        counts = listener;
        listener.transferred(receivedBefore, sentBefore);
    }

    /**
     * Returns whether the peer also subscribes for others. Proxies use an XSUB (RFC 29), and a SUB subscribes for a
     * single subscriber.
     */
    public boolean isRelay() {
        ZMTPHandshake known = agreed;
        return known != null && known.remoteSocketType() == ZMTPSocketType.XSUB;
    }

    /** Describes the peer in log and exception messages. Its address is absent or empty on the same machine. */
    public String peer() {
        String address = Objects.toString(peerAddress(), "");
        String peer = address.isEmpty() ? "its peer" : address;
        ZMTPHandshake known = agreed;
        if (known == null || !known.remoteIdentity().hasRemaining()) {
            return peer;
        }
        return peer + " with identity 0x" + ByteBufUtil.hexDump(Unpooled.wrappedBuffer(known.remoteIdentity()));
    }

    /** Notes that this side begins a computation or decision that the peer waits for. */
    public void beginWork() {
        work.incrementAndGet();
    }

    /** Notes that the computation or decision has ended. Can be called from any thread. */
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

    /** Stores the decision of the authenticator. */
    public void decide(ZMTPAuthDecision decision) {
        this.decision = decision;
    }

    /**
     * Makes the session usable, unless the generator of identities, which is user code, has ended the handshake. {@link
     * #succeed} announces the result.
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

    /** Returns whether the handshake is complete and not announced yet, because the held writes are being sent. */
    public boolean isAgreed() {
        return agreed != null && !handshake.isDone();
    }

    /** Returns whether the handshake has succeeded or failed, and the result was announced. */
    public boolean isHandshakeDone() {
        return handshake.isDone();
    }

    /** Shows the peer and the state of the handshake on a single line. */
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

    /** A session and its future exist before the channel, so the executor is set later. */
    private static final class HandshakePromise extends DefaultPromise<ZMTPHandshake> {
        private volatile @Nullable EventExecutor executor;

        @Override
        @SuppressWarnings("NullAway") // Netty's own promises of unregistered channels do the same.
        protected EventExecutor executor() {
            return executor;
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            // No waiter may cancel the handshake for all others. To end it, close the channel.
            return false;
        }
    }
}
