package dev.zmtp.socket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.proxy.Capture;
import dev.zmtp.internal.proxy.Forwarding;
import dev.zmtp.internal.proxy.ProxyEnd;
import dev.zmtp.internal.proxy.SubscriptionRelay;
import dev.zmtp.internal.socket.context.LoopFuture;
import dev.zmtp.internal.socket.context.SharedFuture;
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
 * <p><b>Pairs.</b> ROUTER and DEALER distribute requests among services. XSUB and XPUB forward published messages in
 * one direction, and subscriptions in the other. A SUB in place of the XSUB has only the application's subscriptions,
 * because publishers allow it no more topics than a single subscriber. PULL and PUSH collect and distribute work. PAIR
 * and PAIR join two connections. If both arguments are the same socket, it sends the messages that it receives.
 *
 * <p><b>Back pressure.</b> If the other side has no room for a message, the proxy keeps the message and takes no more
 * messages until that message was sent. The queues of the sending peers then fill up, and nothing is read from these
 * peers, which wait or drop messages, depending on their settings. A ROUTER waits for each of its peers, so a peer that
 * does not read blocks the replies to all peers. With {@link ZMTPSocketConfig.OverflowPolicy#DISCONNECT} or
 * {@code DROP_NEW} in the ROUTER's configuration, such a peer blocks no replies.
 *
 * <p><b>The sockets</b> remain owned by the caller. The caller can still bind, connect and close them, and send with
 * them, but the proxy takes the messages that they receive. If one of them is closed, the proxy ends.
 *
 * <p>All methods can be called from any thread. No method waits.
 */
public final class ZMTPProxy implements AutoCloseable {

    /** Policy for a copy that the capture socket has no room for. */
    public enum CapturePolicy {
        /** The copy is dropped, so the capture socket never blocks the traffic. The default. */
        DROP_NEW,
        /**
         * The traffic waits until the capture socket accepts the copy. If the capture socket is closed, the proxy ends.
         * A PUB or XPUB still drops copies for slow subscribers, according to its configuration.
         */
        WAIT
    }

    /** Counts of the messages that have passed since the start, taken at about the same moment. Immutable. */
    public static final class Stats {

        private final SideStats frontend;
        private final SideStats backend;
        private final long captured;
        private final long captureDropped;

        Stats(SideStats frontend, SideStats backend, long captured, long captureDropped) {
            this.frontend = frontend;
            this.backend = backend;
            this.captured = captured;
            this.captureDropped = captureDropped;
        }

        /** Counts of the first socket. */
        public SideStats frontend() {
            return frontend;
        }

        /** Counts of the second socket. If both are the same socket, the same as {@link #frontend()}. */
        public SideStats backend() {
            return backend;
        }

        /** Number of copies that the capture socket has accepted. */
        public long captured() {
            return captured;
        }

        /** Number of copies that the capture socket had no room for. */
        public long captureDropped() {
            return captureDropped;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Stats that
                    && frontend.equals(that.frontend)
                    && backend.equals(that.backend)
                    && captured == that.captured
                    && captureDropped == that.captureDropped;
        }

        @Override
        public int hashCode() {
            return Objects.hash(frontend, backend, captured, captureDropped);
        }

        /** Returns all counts with their names. */
        @Override
        public String toString() {
            return "Stats[frontend=" + frontend + ", backend=" + backend + ", captured=" + captured
                    + ", captureDropped=" + captureDropped + "]";
        }
    }

    /**
     * Counts of the messages that have passed at one of the sockets. Bytes are those of all frames, including the
     * routing ids that a ROUTER prepends. Immutable.
     */
    public static final class SideStats {

        private final long messagesReceived;
        private final long bytesReceived;
        private final long messagesSent;
        private final long bytesSent;
        private final long dropped;

        SideStats(long messagesReceived, long bytesReceived, long messagesSent, long bytesSent, long dropped) {
            this.messagesReceived = messagesReceived;
            this.bytesReceived = bytesReceived;
            this.messagesSent = messagesSent;
            this.bytesSent = bytesSent;
            this.dropped = dropped;
        }

        /** Number of messages taken from the socket. */
        public long messagesReceived() {
            return messagesReceived;
        }

        /** Number of bytes of the {@link #messagesReceived()}. */
        public long bytesReceived() {
            return bytesReceived;
        }

        /** Number of messages that the socket has accepted, whether sent or still queued. */
        public long messagesSent() {
            return messagesSent;
        }

        /** Number of bytes of the {@link #messagesSent()}. */
        public long bytesSent() {
            return bytesSent;
        }

        /**
         * Number of messages for the socket that were dropped, because no peer had the routing id, a queue was full,
         * the type does not allow this many frames, or there was no memory for them.
         */
        public long dropped() {
            return dropped;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof SideStats that
                    && messagesReceived == that.messagesReceived
                    && bytesReceived == that.bytesReceived
                    && messagesSent == that.messagesSent
                    && bytesSent == that.bytesSent
                    && dropped == that.dropped;
        }

        @Override
        public int hashCode() {
            return Objects.hash(messagesReceived, bytesReceived, messagesSent, bytesSent, dropped);
        }

        /** Returns all counts with their names. */
        @Override
        public String toString() {
            return "SideStats[messagesReceived=" + messagesReceived + ", bytesReceived=" + bytesReceived
                    + ", messagesSent=" + messagesSent + ", bytesSent=" + bytesSent + ", dropped=" + dropped + "]";
        }
    }

    private final SocketContext frontend;
    private final SocketContext backend;
    private final @Nullable Capture capture;
    private final List<Forwarding> directions = new ArrayList<>(2);
    private final List<SubscriptionRelay> relays = new ArrayList<>(1);
    private final AtomicBoolean closing = new AtomicBoolean();
    private final SharedFuture<Void> closeFuture = new SharedFuture<>();

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
        if (publisher.socketType().isPublisher() && subscriber.socketType() == ZMTPSocketType.XSUB) {
            relays.add(
                    new SubscriptionRelay(ProxyEnd.of(publisher.core()), ProxyEnd.of(subscriber.core()), subscriber));
        }
    }

    /**
     * Starts forwarding between the sockets.
     *
     * @throws IllegalArgumentException if neither socket can send the messages that the other receives, or if either is
     *     a REQ or REP (use a DEALER or ROUTER instead)
     * @throws ZMTPSocketException if a socket is closed
     * @throws IllegalStateException if a socket already has a receiver
     */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend) {
        return start(frontend, backend, (Capture) null);
    }

    /**
     * Like {@link #start(ZMTPSocket, ZMTPSocket)}, with a third socket that gets a copy of all messages that it has
     * room for.
     */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, ZMTPSocket capture) {
        return start(frontend, backend, capture, CapturePolicy.DROP_NEW);
    }

    /**
     * Like {@link #start(ZMTPSocket, ZMTPSocket)}, with a third socket that gets a copy of all messages of both sides.
     *
     * @param capture a PUB, XPUB, PUSH, PAIR or DEALER; it remains owned by the caller
     * @param policy the policy for a copy that the capture socket has no room for
     */
    public static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, ZMTPSocket capture, CapturePolicy policy) {
        switch (capture.socketType()) {
            case PUB, XPUB, PUSH, PAIR, DEALER -> {}
            default ->
                throw new IllegalArgumentException(
                        "capture: " + capture.socketType() + " (expected: PUB, XPUB, PUSH, PAIR or DEALER)");
        }
        Objects.requireNonNull(policy, "policy");
        capture.core().context().checkOpen();
        return start(frontend, backend, new Capture(ProxyEnd.of(capture.core()), policy == CapturePolicy.WAIT));
    }

    private static ZMTPProxy start(ZMTPSocket frontend, ZMTPSocket backend, @Nullable Capture capture) {
        checkTypes(frontend.socketType(), backend.socketType());
        frontend.core().context().checkOpen();
        backend.core().context().checkOpen();
        Inbox front = frontend.core().inbox();
        Inbox back = backend.core().inbox();
        front.claim(feeds(frontend.socketType(), backend.socketType()));
        if (frontend != backend) {
            try {
                back.claim(feeds(backend.socketType(), frontend.socketType()));
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
     * Suspends forwarding until {@link #resume}. Nothing is lost, because messages wait in the queues of their peers,
     * and then with the senders. A socket with {@link ZMTPSocketConfig.ReceiveOverflowPolicy#KEEP_LATEST} instead keeps
     * only the newest message of each peer. Subscriptions still pass, except behind as many messages of an XSUB as fill
     * the queue of this peer.
     *
     * @return a future that completes when nothing is forwarded any more
     */
    public CompletableFuture<Void> pause() {
        directions.forEach(Forwarding::pause);
        return whenBothHaveRun();
    }

    /**
     * Resumes forwarding.
     *
     * @return a future that completes when both sides have resumed
     */
    public CompletableFuture<Void> resume() {
        directions.forEach(Forwarding::resume);
        return whenBothHaveRun();
    }

    /** Returns a future that completes when both event loops have completed all tasks submitted earlier. */
    private CompletableFuture<Void> whenBothHaveRun() {
        CompletableFuture<Void> done = new LoopFuture<>();
        frontend.executeAnyway(() -> backend.executeAnyway(() -> done.complete(null)));
        return done;
    }

    /** Returns the counts so far. */
    public Stats stats() {
        Forwarding forth = directions.get(0);
        Forwarding back = directions.get(directions.size() - 1);
        return new Stats(
                side(forth, back), side(back, forth), capture == null ? 0 : capture.captured(), droppedByCapture());
    }

    private static SideStats side(Forwarding from, Forwarding to) {
        return new SideStats(from.received(), from.bytesReceived(), to.sent(), to.bytesSent(), to.dropped());
    }

    private long droppedByCapture() {
        return capture == null ? 0 : capture.dropped();
    }

    /**
     * Ends the forwarding and the proxy's subscriptions, and leaves the sockets open. Messages that were taken but not
     * sent return to the socket that they were taken from, and are received from it next. A second call does nothing.
     */
    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            AtomicInteger left = new AtomicInteger(directions.size() + relays.size());
            Runnable ended = () -> {
                if (left.decrementAndGet() == 0) {
                    closeFuture.succeed(null);
                }
            };
            directions.forEach(direction -> direction.end(ended));
            relays.forEach(relay -> relay.end(ended));
        }
    }

    /** Returns a future that completes when the proxy has ended because it or one of its sockets was closed. */
    public CompletableFuture<Void> closeFuture() {
        return closeFuture;
    }

    /** Returns the types and the number of messages that have passed. */
    @Override
    public String toString() {
        return "ZMTPProxy{" + frontend.type() + ", " + backend.type() + ", forth="
                + directions.get(0).sent() + ", back="
                + directions.get(directions.size() - 1).sent() + "}";
    }
}
