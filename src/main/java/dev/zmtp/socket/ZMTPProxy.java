package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.proxy.Capture;
import dev.zmtp.internal.proxy.Forwarding;
import dev.zmtp.internal.proxy.ProxyEnd;
import dev.zmtp.internal.proxy.SubscriptionRelay;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.context.TypeRules;
import dev.zmtp.internal.socket.receive.Inbox;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Forwards whole messages between two sockets, in both directions, without copying their bytes.
 *
 * <pre>{@code
 *   ZMTPSocket frontend = ZMTPSocket.of(ROUTER);   // asked by REQ
 *   ZMTPSocket backend = ZMTPSocket.of(DEALER);    // answered by REP
 *   frontend.bind("tcp://*:5555");
 *   backend.bind("tcp://*:5556");
 *   ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
 * }</pre>
 *
 * <p><b>Pairs.</b> ROUTER and DEALER spread requests among services. XSUB and XPUB forward what is published, and
 * subscriptions the other way, as subscriptions. PULL and PUSH collect and spread work. PAIR and PAIR join two
 * connections. If both are the same socket, it sends what it receives.
 *
 * <p><b>Back pressure.</b> A message that the other side has no room for is held, and no more are taken until it was
 * sent. Then the queues of the sending peers fill up, and nothing is read from them: they have to wait or drop, as
 * their sockets do. A ROUTER waits for each of its peers, so one that does not read stops the answers to all; with
 * {@link ZMTPSocketConfig.WhenFull#DISCONNECT} or {@code DROP_NEW} in its configuration, it stops none.
 *
 * <p><b>The sockets</b> stay the caller's: they may be bound, connected, sent with and closed as before, but what they
 * receive goes to the proxy. If one of them is closed, the proxy ends.
 *
 * <p>All methods may be called from any thread. None waits.
 */
public final class ZMTPProxy implements AutoCloseable {

    /** The choices for a capture that has no room for a copy. */
    public enum Capturing {
        /** The copy is dropped: the capture never stops the traffic. The default. */
        WHAT_FITS,
        /**
         * The traffic waits until the capture takes the copy, and ends with the capture. A PUB or XPUB drops copies
         * for slow subscribers all the same, if its configuration says so.
         */
        EVERYTHING
    }

    /**
     * The messages that have passed since the start, at about one moment.
     *
     * @param frontend what has passed at the first socket
     * @param backend what has passed at the second socket; the same as the first if there is only one socket
     * @param captured the number of copies that the capture has taken
     * @param captureDropped the number of copies that it had no room for
     */
    public record Statistics(Side frontend, Side backend, long captured, long captureDropped) {}

    /**
     * The messages that have passed at one socket. Bytes are those of all frames, including the names that a ROUTER
     * puts first.
     *
     * @param messagesReceived the number of messages that were taken from it
     * @param bytesReceived their bytes
     * @param messagesSent the number of messages that it has taken; they were sent, or wait in its queues
     * @param bytesSent their bytes
     * @param dropped the number of messages for it that were dropped: no peer has the name, a queue was full and drops,
     *     the type does not allow this many frames, or there was no memory for it
     */
    public record Side(long messagesReceived, long bytesReceived, long messagesSent, long bytesSent, long dropped) {}

    private final SocketContext frontend;
    private final SocketContext backend;
    private final @Nullable Capture capture;
    private final List<Forwarding> directions = new ArrayList<>(2);
    private final List<SubscriptionRelay> relays = new ArrayList<>(1);
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    private ZMTPProxy(ZMTPSocket frontend, ZMTPSocket backend, @Nullable Capture capture) {
        ProxyEnd front = ProxyEnd.of(frontend.core());
        ProxyEnd back = ProxyEnd.of(backend.core());
        this.frontend = front.context();
        this.backend = back.context();
        this.capture = capture;
        directions.add(new Forwarding(front, back, capture, this::close));
        if (frontend != backend) {
            directions.add(new Forwarding(back, front, capture, this::close));
            relay(frontend, backend);
            relay(backend, frontend);
        }
    }

    private void relay(ZMTPSocket publisher, ZMTPSocket subscriber) {
        if (publisher.type().isPublisher() && subscriber.type().isSubscriber()) {
            relays.add(new SubscriptionRelay(ProxyEnd.of(publisher.core()), subscriber));
        }
    }

    /**
     * Starts to forward between the sockets.
     *
     * @throws IllegalArgumentException if neither can receive what the other can send, or if one is a REQ or REP, for
     *     which DEALER and ROUTER stand in
     * @throws ZMTPSocketException if one is closed
     * @throws IllegalStateException if what one receives goes elsewhere
     */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend) {
        return start(frontend, backend, (Capture) null);
    }

    /** As {@link #start(ZMTPSocket, ZMTPSocket)}. A third socket gets a copy of all messages that it has room for. */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, ZMTPSocket capture) {
        return start(frontend, backend, capture, Capturing.WHAT_FITS);
    }

    /**
     * As {@link #start(ZMTPSocket, ZMTPSocket)}, with a copy of all messages of both sides for a third socket.
     *
     * @param capture a PUB, XPUB, PUSH, PAIR or DEALER; it stays the caller's
     * @param capturing what happens if it has no room
     */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, ZMTPSocket capture, Capturing capturing) {
        switch (capture.type()) {
            case PUB, XPUB, PUSH, PAIR, DEALER -> {}
            default ->
                throw new IllegalArgumentException(
                        "capture: " + capture.type() + " (expected: PUB, XPUB, PUSH, PAIR or DEALER)");
        }
        Objects.requireNonNull(capturing, "capturing");
        capture.core().context().checkOpen();
        return start(frontend, backend, new Capture(ProxyEnd.of(capture.core()), capturing == Capturing.EVERYTHING));
    }

    private static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, @Nullable Capture capture) {
        checkTypes(frontend.type(), backend.type());
        frontend.core().context().checkOpen();
        backend.core().context().checkOpen();
        Inbox front = frontend.core().inbox();
        Inbox back = backend.core().inbox();
        front.claim();
        if (frontend != backend) {
            try {
                back.claim();
            } catch (IllegalStateException e) {
                front.unclaim();
                throw e;
            }
        }
        ZMTPProxy proxy = new ZMTPProxy(frontend, backend, capture);
        proxy.directions.forEach(Forwarding::start);
        proxy.relays.forEach(SubscriptionRelay::start);
        return proxy;
    }

    private static void checkTypes(ZMTPSocketType frontend, ZMTPSocketType backend) {
        if (isStrict(frontend) || isStrict(backend) || !(feeds(frontend, backend) || feeds(backend, frontend))) {
            throw new IllegalArgumentException("types: " + frontend + " and " + backend
                    + " (expected: a pair as ROUTER and DEALER, XSUB and XPUB, PULL and PUSH, or PAIR and PAIR)");
        }
    }

    private static boolean isStrict(ZMTPSocketType type) {
        return type == ZMTPSocketType.REQ || type == ZMTPSocketType.REP;
    }

    private static boolean feeds(ZMTPSocketType from, ZMTPSocketType to) {
        return TypeRules.receives(from) && TypeRules.sends(to);
    }

    /**
     * Forwards nothing until {@link #resume}. Nothing is lost: messages wait in the queues of their peers, and then
     * with the senders. Subscriptions still pass.
     *
     * @return completes when nothing is forwarded any more
     */
    public CompletableFuture<Void> pause() {
        directions.forEach(Forwarding::pause);
        return whenBothHaveRun();
    }

    /**
     * Forwards again.
     *
     * @return completes when both sides have resumed
     */
    public CompletableFuture<Void> resume() {
        directions.forEach(Forwarding::resume);
        return whenBothHaveRun();
    }

    /** Completes when both event loops have done everything that was given to them before. */
    private CompletableFuture<Void> whenBothHaveRun() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        frontend.executeAnyway(() -> backend.executeAnyway(() -> done.complete(null)));
        return done;
    }

    /** What has passed so far. */
    public Statistics statistics() {
        Forwarding forth = directions.get(0);
        Forwarding back = directions.get(directions.size() - 1);
        return new Statistics(
                side(forth, back), side(back, forth), capture == null ? 0 : capture.captured(), droppedByCapture());
    }

    private static Side side(Forwarding from, Forwarding to) {
        return new Side(from.received(), from.bytesReceived(), to.sent(), to.bytesSent(), to.dropped());
    }

    private long droppedByCapture() {
        return capture == null ? 0 : capture.dropped();
    }

    /**
     * Ends the forwarding and the subscriptions that it has made, and leaves the sockets open. Messages that were taken
     * and not sent return to their socket, which receives them next. A second call does nothing.
     */
    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            AtomicInteger left = new AtomicInteger(directions.size() + relays.size());
            Runnable ended = () -> {
                if (left.decrementAndGet() == 0) {
                    closed.complete(null);
                }
            };
            directions.forEach(direction -> direction.end(ended));
            relays.forEach(relay -> relay.end(ended));
        }
    }

    /** Completes when the proxy has ended because it or one of its sockets was closed. */
    public CompletableFuture<Void> closed() {
        return closed.copy();
    }

    /** Shows the types and the number of messages that have passed. */
    @Override
    public String toString() {
        return "ZMTPProxy{" + frontend.type() + ", " + backend.type() + ", forth="
                + directions.get(0).sent() + ", back="
                + directions.get(directions.size() - 1).sent() + "}";
    }
}
