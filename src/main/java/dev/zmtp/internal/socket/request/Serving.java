package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.context.LaterLook;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;
import dev.zmtp.internal.socket.receive.Sink;
import dev.zmtp.internal.socket.send.DirectSends;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPRequestObserver.Outcome;
import dev.zmtp.socket.ZMTPSocketEvent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes requests to a handler, up to a maximum at a time, and sends each answer back to the peer that made the
 * request.
 */
public final class Serving implements Sink {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Serving");

    private final SocketContext context;
    private final Inbox inbox;
    private final DirectSends directly;
    private final Consumer<? super ZMTPRequest> handler;
    private final Places places;
    private final RateLimitedLog failures;
    private final LaterLook memoryLook;

    public Serving(
            SocketContext context,
            Inbox inbox,
            DirectSends directly,
            Places places,
            Consumer<? super ZMTPRequest> handler) {
        this.context = context;
        this.inbox = inbox;
        this.memoryLook = new LaterLook(context, inbox::pump);
        this.directly = directly;
        this.places = places;
        this.handler = handler;
        this.failures = context.warnings(logger);
    }

    @Override
    public boolean wants() {
        if (!places.areLeft()) {
            return false;
        }
        if (places.isMuchHeld()) {
            memoryLook.schedule();
            return false;
        }
        return true;
    }

    @Override
    public boolean wants(Peer from) {
        return places.areLeftFor(from) && !from.unreadAnswers().areMany();
    }

    @Override
    public void declined(Peer from) {
        if (from.unreadAnswers().areMany()) {
            from.unreadAnswers().whenTheyHaveLeft(() -> {
                inbox.back(from);
                inbox.pump();
            });
        } else {
            places.decline(from);
        }
    }

    @Override
    public @Nullable Peer recall() {
        return places.recall();
    }

    @Override
    public void take(Peer from, ZMTPMessage message) {
        int frames = Envelope.length(message);
        if (frames == 0) {
            Reception.malformed(from, message);
            return;
        }
        ServedRequest request =
                ServedRequest.of(directly, from, from.occupant(), MessageMemory.compact(message), frames, this);
        request.holder = places.take(from);
        try {
            places.hold(request);
            from.memory().served(request.memory());
            from.unreadAnswers().changed();
            handler.accept(request);
        } catch (Throwable e) { // from the application; this peer gets no answer, and others are not affected
            try {
                failed(request, e);
                context.fire(new ZMTPSocketEvent.HandlerFailed(from, e));
            } finally {
                request.drop();
            }
        }
    }

    private void failed(ServedRequest request, Throwable cause) {
        failures.log("The handler", "failed, " + request + " will not be answered", cause);
    }

    /** Returns the start of a request whose handler is called next. */
    long start() {
        return context.requestObservers().served();
    }

    /** Called once for each request, from any thread, with the answer if there is one. */
    void ended(ServedRequest request, @Nullable ZMTPMessage answer) {
        Outcome replied = request.isAwaited() ? Outcome.REPLIED : Outcome.REQUESTER_DOWN;
        Outcome outcome = answer == null ? Outcome.DROPPED : replied;
        long end = context.nanoTime();
        Flight.serve(request.recorded, context.type(), outcome);
        if (context.inEventLoop()) {
            endedHere(request, answer);
        } else if (answer == null) {
            context.executeLaterAnyway(() -> endedHere(request, null));
        } else {
            directly.handAnswer(() -> endedHere(request, answer));
        }
        context.requestObservers().ended(request.start, end, outcome); // last, because it runs user code
    }

    private void endedHere(ServedRequest request, @Nullable ZMTPMessage answer) {
        Peer from = request.from();
        places.release(request);
        from.memory().served(-request.memory());
        if (places.giveBack(from, request.holder)) {
            inbox.back(from);
        }
        if (answer != null) {
            try {
                request.send(answer);
            } catch (Throwable e) { // such as an answer that was already released
                failed(request, e);
            }
        }
        from.unreadAnswers().changed();
        inbox.pump();
    }

    @Override
    public void closed() {}
}
