package dev.zmtp.internal.connection;

import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection: its parts, the phase that it is in, and its end. The handler tells it what Netty reports. On
 * the channel's event loop only.
 */
public final class Connection {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.ZMTPCodec");

    private final ChannelHandlerContext ctx;
    private final Session session;
    private final ZMTPConfig config;
    private final LongSupplier nanoTime;
    private final HeldWrites held;
    private final ReadDemand demand;
    private final ConnectionMemory memory;
    private final ReadLoop reads;
    private final EndReports reports;
    private final PeerPolicy policy;
    private final Handshaking handshake;
    private Phase phase;

    /** Null before {@link #begin}, and after the end. */
    private @Nullable ZMTPMechanism mechanism;

    /** The codec is being added to an active channel, and the handlers after it may not be there yet. */
    private boolean addingToActiveChannel;

    /** The codec was removed from an open connection, whose bytes belong to the next handler now. */
    private boolean removedWhileOpen;

    /**
     * @param nanoTime the clock of all that it measures
     * @param handshakes makes what controls the handshake of a connection
     */
    public Connection(
            ChannelHandlerContext ctx,
            Session session,
            LongSupplier nanoTime,
            Function<Connection, Handshaking> handshakes) {
        this.ctx = ctx;
        this.session = session;
        this.config = session.config();
        this.nanoTime = nanoTime;
        this.held = new HeldWrites(ctx);
        this.demand = new ReadDemand(ctx, session);
        this.memory = new ConnectionMemory(this, ctx);
        this.reads = new ReadLoop(this, ctx, demand);
        this.reports = new EndReports(ctx, session, memory);
        this.policy = new PeerPolicy(config);
        this.handshake = handshakes.apply(this);
        this.phase = handshake.firstPhase();
        phase.setCurrent(true);
    }

    // Life

    /** The codec is in the pipeline. */
    public void begin() {
        try {
            reads.pace();
            mechanism = config.mechanism().create(handshake.mechanismContext());
        } catch (Throwable e) { // from user code
            enter(new ClosedPhase(this, e), e);
            session.fail(e);
            // When the pipeline has reported the exception, and the handlers after the codec are there.
            ctx.executor().execute(() -> {
                UnheardFailure.fire(ctx.pipeline(), new ZMTPHandshakeFailure(session, e, true));
                ctx.close();
            });
            throw e;
        }
        if (ctx.channel().isActive()) {
            addingToActiveChannel = true;
            phase.connected();
            addingToActiveChannel = false;
        } else if (!ctx.channel().isOpen()) {
            // No event will come. Later, when the handlers after the codec are there to get ours.
            ctx.executor().execute(() -> closed("as the channel was closed"));
        }
    }

    /** The channel is active: begins the handshake. */
    public void start() {
        session.connected(ctx.channel());
        reads.guarded(handshake::begin);
        if (addingToActiveChannel) {
            // A transport may answer at once, and the handlers after the codec would not get that.
            ctx.executor().execute(demand::readOn);
        } else {
            demand.readOn();
        }
    }

    /** The channel is not active any more. */
    public void inactive() {
        reads.finish();
        String unfinished = phase.unfinishedInput();
        closed("by the peer");
        reports.cutOff(unfinished);
    }

    /** The codec is no longer in the pipeline. */
    public void removed() {
        reads.removed();
        if (isClosed()) {
            return;
        }
        Throwable fatal = phase.whyRemovalIsFatal();
        if (fatal != null) {
            fail(fatal);
            return;
        }
        removedWhileOpen = true;
        closed("as the codec was removed");
        reads.passOn();
    }

    /** The user closes the channel, after this call. */
    public void closedByUser() {
        closed(phase.describeUserClose());
    }

    /** The connection is over without a failure. The channel is already closed, or the caller closes it. */
    public void closed(String how) {
        if (!session.isHandshakeDone()) {
            fail(handshake.failures().ended(how, phase), false);
        } else if (!isClosed()) {
            enter(new ClosedPhase(this, null));
            if (!held.isEmpty()) {
                held.fail(new ClosedChannelException());
            }
        }
    }

    /** Enters {@code next}: the one place where a phase follows another. */
    public void enter(Phase next) {
        enter(next, null);
    }

    private void enter(Phase next, @Nullable Throwable cause) {
        Phase old = phase;
        logger.debug("{} {} -> {}", ctx.channel(), old, next);
        old.setCurrent(false);
        next.setCurrent(true);
        phase = next;
        old.end(cause);
        next.begin();
    }

    /** The connection is over for the codec. */
    void ended() {
        handshake.cancelTimer();
        memory.close();
        if (!removedWhileOpen) {
            reads.clear();
        }
        if (mechanism != null) {
            UserCode.closeQuietly(ctx.channel(), mechanism::close);
            mechanism = null;
        }
    }

    /** Ends the connection for {@code cause}. Every failure ends this way. */
    public void fail(Throwable cause) {
        fail(cause, true);
    }

    private void fail(Throwable cause, boolean close) {
        if (isClosed()) {
            return;
        }
        enter(new ClosedPhase(this, cause), cause);
        held.fail(cause);
        boolean inHandshake = !session.isHandshakeDone();
        if (inHandshake) {
            session.fail(cause);
        }
        if (addingToActiveChannel) {
            // When the handlers after the codec are there.
            ctx.executor().execute(() -> reports.failure(cause, inHandshake, close));
        } else {
            reports.failure(cause, inHandshake, close);
        }
    }

    // Reads

    /** The user, or auto-read, asks for bytes. */
    public void read() {
        if (demand.readIssued()) {
            phase.readResumed();
        }
        if (!reads.readFromQueue()) {
            ctx.read();
        }
    }

    /** Lets the mechanism go on. */
    public void resumeMechanism(Runnable first) {
        reads.step(() -> phase.resume(first));
    }

    /** Fires what the peer sent for the application. */
    public void fireMessage(Object message) {
        demand.messageFired();
        ctx.fireChannelRead(message);
    }

    /** The bytes of memory that the codec keeps for the peer, but for what the transport has. */
    long kept() {
        return phase.kept() + reads.queuedBytes() + held.size();
    }

    // Parts

    public ChannelHandlerContext ctx() {
        return ctx;
    }

    public Session session() {
        return session;
    }

    public ZMTPConfig config() {
        return config;
    }

    public LongSupplier nanoTime() {
        return nanoTime;
    }

    public HeldWrites held() {
        return held;
    }

    public ConnectionMemory memory() {
        return memory;
    }

    public ReadDemand demand() {
        return demand;
    }

    public ReadLoop reads() {
        return reads;
    }

    /** The mechanism of the connection, which is not over yet. */
    public ZMTPMechanism mechanism() {
        return Objects.requireNonNull(mechanism);
    }

    public Handshaking handshake() {
        return handshake;
    }

    public EndReports reports() {
        return reports;
    }

    public PeerPolicy policy() {
        return policy;
    }

    public Phase phase() {
        return phase;
    }

    public boolean isClosed() {
        return phase instanceof ClosedPhase;
    }

    public boolean wasRemoved() {
        return removedWhileOpen;
    }
}
