package dev.zmtp.internal.socket;

import dev.zmtp.internal.runtime.LoopHooks;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SharedFuture;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.endpoint.Listener;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ZMTPStats;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The end of a socket. First, sends and requests are no longer accepted. Then the queued messages have some time to
 * leave. In the rest of that time, the peers can read the written messages and close. Then everything ends, whatever
 * the peers do. If the event loop ends first, the socket ends with it.
 */
public final class Closing {

    /** The parts of a socket at its end. On the event loop, or after its end. */
    interface Parts {
        /** Ends everything except the messages accepted to be sent. */
        void endOthers();

        /** Passes the accepted messages to the queues of the peers, in one task, as the event loop can end next. */
        void sendAccepted();

        /** Returns whether all accepted messages have left. */
        boolean haveSentAll();

        /** Fails the remaining messages, and ends the connectors. */
        void endAll();

        /** Fires the events that wait for the end of a second. */
        void reportRest();

        /** Returns the final statistics of all messages. */
        ZMTPStats statsAtTheEnd();
    }

    /**
     * Time for transports that close with an exchange, and for listeners, whose addresses become free a moment later.
     */
    private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(20);

    private final SocketContext context;
    private final Parts parts;
    private final Collection<Listener> bindings;
    private final Runnable whenClosed;
    private final SharedFuture<ZMTPStats> report = new SharedFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final Runnable loopEnds = this::loopEnds;
    private final FutureListener<Object> loopEnded = f -> loopEnded();

    // On the event loop
    /** All connections of the socket, including connections during their handshake. */
    private final Set<PeerHandler> links = new LinkedHashSet<>();

    private @Nullable ScheduledFuture<?> lingers;
    private boolean lingering;
    private long lingerNanos;
    private long since;
    private boolean reported;

    /** @param bindings those that have not ended */
    Closing(SocketContext context, Parts parts, Collection<Listener> bindings, Runnable whenClosed) {
        this.context = context;
        this.parts = parts;
        this.bindings = bindings;
        this.whenClosed = whenClosed;
    }

    /** Makes the socket end with its event loop. */
    void open() {
        termination().addListener(loopEnded);
        context.execute(() -> LoopHooks.add(context.eventLoop(), loopEnds));
    }

    @SuppressWarnings("unchecked") // its result is not used
    private Future<Object> termination() {
        return (Future<Object>) context.eventLoop().terminationFuture();
    }

    public CompletableFuture<ZMTPStats> close(Duration linger) {
        context.close();
        // If the event loop does not take it, it has ended, or is about to.
        context.executeOnce(begun, () -> begin(linger));
        return report;
    }

    public CompletableFuture<ZMTPStats> report() {
        return report;
    }

    /**
     * Closes all channels on an event loop that is ending, as Netty also does, except if the end begins within a task
     * and without a quiet period. Their peers would then wait in vain, and their messages and addresses would be lost.
     */
    private void loopEnds() {
        List.copyOf(bindings).forEach(Listener::loopEnds);
        List.copyOf(links).forEach(link -> LoopHooks.close(link.channel()));
    }

    private void loopEnded() {
        context.close();
        begun.set(true);
        context.completions().completeAll();
        if (!context.isFinished()) {
            parts.endOthers();
            finish();
        }
        List.copyOf(bindings).forEach(Listener::loopEnds); // if no hook was run
        List.copyOf(links).forEach(PeerHandler::lost);
        complete();
    }

    // On the event loop, or after its end

    private void begin(Duration linger) {
        lingerNanos = Settings.nanos(linger);
        since = context.nanoTime();
        try {
            parts.endOthers();
            parts.sendAccepted();
        } finally { // even if a message has thrown, or there is no memory
            lingering = true;
            check();
            if (!context.isFinished()) {
                lingers = context.schedule(this::finish, lingerNanos);
            }
        }
    }

    /** Called when a message has left, which might have been the last. */
    void check() {
        if (lingering && !context.isFinished() && context.tally().unconfirmed() == 0 && parts.haveSentAll()) {
            finish();
        }
    }

    private void finish() {
        if (context.isFinished()) {
            return;
        }
        context.finish();
        if (lingers != null) {
            lingers.cancel(false);
        }
        try {
            parts.endAll();
        } finally { // even if there is no memory for a task
            closeLinks();
        }
    }

    private void closeLinks() {
        long left = lingering ? Math.max(0, lingerNanos - (context.nanoTime() - since)) : 0;
        List.copyOf(links).forEach(link -> link.close(left)); // in which peers have to read the written data
        long patience = links.isEmpty() ? GRACE : Math.max(left, left + GRACE);
        if (nothingIsLeft()) {
            complete();
        } else {
            lingers = context.schedule(this::complete, patience); // otherwise at the end of the event loop
        }
    }

    private boolean nothingIsLeft() {
        return links.isEmpty() && bindings.isEmpty();
    }

    void began(PeerHandler link) {
        links.add(link);
    }

    void ended(PeerHandler link) {
        links.remove(link);
        ended();
    }

    /** Called when a connection or a binding has ended, which might have been the last. */
    void ended() {
        if (context.isFinished() && nothingIsLeft()) {
            complete();
        }
    }

    private void complete() {
        if (reported) {
            return;
        }
        reported = true;
        if (lingers != null) {
            lingers.cancel(false); // a timer would keep the socket in memory
        }
        if (context.inEventLoop()) { // otherwise it has ended
            LoopHooks.remove(context.eventLoop(), loopEnds);
        }
        whenClosed.run();
        ZMTPStats stats = parts.statsAtTheEnd(); // of connections that take longer to close
        try {
            List.copyOf(links).forEach(link -> LoopHooks.close(link.channel()));
            parts.reportRest();
            context.executeLaterAnyway(parts::reportRest); // after the ends of these connections
            context.completions().completeDelayed();
        } finally { // even if there is no memory for a task
            context.completions().after(() -> {
                termination().removeListener(loopEnded); // which completes this, too, if the loop ends first
                report.succeed(stats);
            });
        }
    }
}
