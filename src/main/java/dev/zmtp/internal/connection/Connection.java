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
 * A connection: its parts, its current phase, and its end. The handler passes on the events that Netty reports. Used
 * only on the channel's event loop.
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

    /**
     * True while the codec is being added to an active channel. The handlers after it might not have been added yet.
     */
    private boolean addingToActiveChannel;

    /** True if the channel was closed before, for example by a limiter. Netty may report its end later. */
    private boolean addedTooLate;

    /** True if the codec was removed from an open connection, whose bytes now belong to the next handler. */
    private boolean removedWhileOpen;

    /**
     * @param nanoTime the clock for all measurements
     * @param handshakes creates the handshake control of a connection
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

    // Lifecycle

    /** Called when the codec is in the pipeline. */
    public void begin() {
        try {
            reads.pace();
            mechanism = config.mechanism().create(handshake.mechanismContext());
            session.speaks(mechanism.name());
        } catch (Throwable e) { // thrown by user code
            enter(new ClosedPhase(this, e), e);
            session.fail(e);
            // After the pipeline has reported the exception, and the handlers after the codec have been added.
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
            // The task runs after the handlers after the codec have been added, so that they receive its event.
            addedTooLate = true;
            ctx.executor().execute(() -> closed("as the channel was closed"));
        }
    }

    /** Begins the handshake, because the channel is active. */
    public void start() {
        session.connected(ctx.channel());
        reads.guarded(handshake::begin);
        if (addingToActiveChannel) {
            // A transport can reply immediately, and the handlers after the codec would miss the reply.
            ctx.executor().execute(demand::readOn);
        } else {
            demand.readOn();
        }
    }

    /** Called when the channel is no longer active. */
    public void inactive() {
        reads.finish();
        String unfinished = phase.unfinishedInput();
        closed(addedTooLate ? "as the channel was closed" : "by the peer");
        reports.cutOff(unfinished);
    }

    /** Called when the codec is no longer in the pipeline. */
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

    /** Called before the user closes the channel. */
    public void closedByUser() {
        closed(phase.describeUserClose());
    }

    /** Ends the connection without a failure. The channel is already closed, or the caller closes it. */
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

    /** Enters {@code next}. All transitions between phases use this method. */
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

    /** Called when the connection is over for the codec. */
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

    /** Ends the connection because of {@code cause}. Every failure ends this way. */
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
            // After the handlers after the codec have been added.
            ctx.executor().execute(() -> reports.failure(cause, inHandshake, close));
        } else {
            reports.failure(cause, inHandshake, close);
        }
    }

    // Reads

    /** Called when the user or auto-read requests bytes. */
    public void read() {
        if (demand.readIssued()) {
            phase.readResumed();
        }
        if (!reads.readFromQueue()) {
            ctx.read();
        }
    }

    /** Resumes the mechanism. */
    public void resumeMechanism(Runnable first) {
        reads.step(() -> phase.resume(first));
    }

    /** Fires a message that the peer sent to the application. */
    public void fireMessage(Object message) {
        demand.messageFired();
        ctx.fireChannelRead(message);
    }

    /** Returns the number of bytes that the codec retains for the peer, excluding those of the transport. */
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

    /** Returns the mechanism of the connection, which must not be over. */
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
