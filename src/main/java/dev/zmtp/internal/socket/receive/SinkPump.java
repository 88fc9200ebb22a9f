package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import org.jspecify.annotations.Nullable;

/** Passes messages to the sink of an {@link Inbox}, up to a limit in each task. On the event loop. */
final class SinkPump {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Inbox");

    private enum State {
        IDLE,
        RUNNING,
        /** The sink gets the remaining messages after the event loop has read. */
        RESTING
    }

    private final SocketContext context;
    private final Inbox inbox;
    private final RateLimitedLog failures;
    private @Nullable Sink sink;
    private ZMTPRegistration watch = () -> {};
    private State state = State.IDLE;

    SinkPump(SocketContext context, Inbox inbox) {
        this.context = context;
        this.inbox = inbox;
        this.failures = context.warnings(logger);
    }

    @Nullable
    Sink sink() {
        return sink;
    }

    void begin(Sink to) {
        sink = to;
        watch.close();
        watch = LoopWatch.watch(context.eventLoop());
        pump();
    }

    void leave(Sink from) {
        if (sink == from) {
            sink = null;
            watch.close();
        }
    }

    void hand(Sink to, Peer from, ZMTPMessage message) {
        try {
            to.take(from, message);
        } catch (Throwable e) { // from the application, so it does not affect the connection and the next message
            context.fire(new ZMTPSocketEvent.HandlerFailed(from, e));
            failures.log("The handler of messages", "failed at one from " + from, e);
        }
    }

    /** Called when the sink might accept more messages, or when there might be more for it. */
    void pump() {
        // A sink that has answered at once calls this. The calls must not nest for each message.
        if (state != State.IDLE) {
            return;
        }
        state = State.RUNNING;
        try {
            pumpSome();
        } finally {
            state = state == State.RUNNING ? State.IDLE : state;
        }
    }

    private void pumpRest() {
        state = State.IDLE;
        pump();
    }

    /** Passes a limited number of messages, because a sink that answers gives the peers room for more requests. */
    private void pumpSome() {
        int left = LoopBudget.MESSAGES;
        for (Sink to = sink; to != null && inbox.mayHaveNext(to) && to.wants(); to = sink) { // a sink can be replaced
            if (left-- == 0) {
                context.executeAfterReads(this::pumpRest);
                state = State.RESTING; // only now, because there might be no memory for the task
                return;
            }
            if (!inbox.passNext(to)) {
                return;
            }
        }
    }
}
