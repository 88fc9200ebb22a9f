package dev.zmtp.internal.socket;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;

import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The end of a socket. First, sends and requests are no longer accepted. Then what is queued has some time to leave.
 * Then everything ends, whatever the peers do. If the event loop ends first, the socket ends with it.
 */
public final class Closing {

    /**
     * Time for transports that close with an exchange, and for listeners, whose addresses become free a moment later.
     */
    private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(20);

    private final SocketCore core;
    private final Runnable whenClosed;
    private final CompletableFuture<ZMTPStats> report = new LoopFuture<>();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final FutureListener<Object> loopEnded = f -> loopEnded();

    // On the event loop
    /** All connections of the socket, those included whose handshake goes on. */
    private final Set<PeerHandler> links = new HashSet<>();

    private @Nullable ScheduledFuture<?> lingers;
    private boolean lingering;
    private boolean reported;
    private volatile boolean finished;

    Closing(SocketCore core, Runnable whenClosed) {
        this.core = core;
        this.whenClosed = whenClosed;
    }

    /** Makes the socket end with its event loop. */
    void open() {
        termination().addListener(loopEnded);
    }

    @SuppressWarnings("unchecked") // its result is not used
    private Future<Object> termination() {
        return (Future<Object>) core.eventLoop().terminationFuture();
    }

    public CompletableFuture<ZMTPStats> close(Duration linger) {
        core.senders().stopAccepting();
        if (begun.compareAndSet(false, true)) {
            core.tryExecute(() -> begin(linger)); // otherwise the event loop has ended, or is about to
        }
        return report.copy();
    }

    public CompletableFuture<ZMTPStats> report() {
        return report.copy();
    }

    private void loopEnded() {
        core.senders().stopAccepting();
        begun.set(true);
        if (!finished) {
            endOthers();
            core.routing().endTurn();
            finish();
        }
        List.copyOf(links).forEach(PeerHandler::lost);
        complete();
    }

    // On the event loop, or after its end

    private void begin(Duration linger) {
        endOthers();
        core.senders().drainLast();
        core.routing().endTurn();
        lingering = true;
        check();
        if (!finished) {
            lingers = core.schedule(this::finish, Settings.nanos(linger));
        }
    }

    /** Ends everything except what was accepted to be sent. */
    private void endOthers() {
        core.senders().close();
        List.copyOf(core.endpoints().bindings()).forEach(Listener::end);
        core.requests().close();
        core.inbox().close();
        ZMTPSocketException closed = new ZMTPSocketException(CLOSED, "the socket is closed");
        core.connected().close(closed);
        core.subscribers().awaited().close(closed);
    }

    /** Called when something has left, which may have been the last. */
    void check() {
        if (lingering
                && !finished
                && core.account().unconfirmed() == 0
                && core.senders().held() == 0
                && allQueuesAreEmpty()) {
            finish();
        }
    }

    private boolean allQueuesAreEmpty() {
        if (core.routing().hasMoreToSend()) {
            return false;
        }
        for (Peer peer : core.peers()) {
            if (!peer.queue().isEmpty()) {
                return false;
            }
        }
        return true;
    }

    boolean isFinished() {
        return finished;
    }

    private void finish() {
        if (finished) {
            return;
        }
        finished = true;
        if (lingers != null) {
            lingers.cancel(false);
        }
        core.senders().failAll();
        core.routing().failQueue(CLOSED, "the socket is closed");
        core.peerList().forEach(peer -> peer.failQueue(CLOSED, "the socket is closed"));
        List.copyOf(core.endpoints().connectors()).forEach(Connector::closeNow);
        List.copyOf(links).forEach(PeerHandler::close);
        if (nothingIsLeft() || core.schedule(this::complete, GRACE) == null) {
            complete();
        }
    }

    private boolean nothingIsLeft() {
        return links.isEmpty() && core.endpoints().bindings().isEmpty();
    }

    void began(PeerHandler link) {
        links.add(link);
    }

    void ended(PeerHandler link) {
        links.remove(link);
        ended();
    }

    /** Called when a connection or a binding has ended, which may have been the last. */
    void ended() {
        if (finished && nothingIsLeft()) {
            complete();
        }
    }

    private void complete() {
        if (reported) {
            return;
        }
        reported = true;
        termination().removeListener(loopEnded);
        whenClosed.run();
        report.complete(core.account().atTheEnd()); // of connections that take longer to say goodbye
    }
}
