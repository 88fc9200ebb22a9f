package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.interop.PeerContext;
import dev.zmtp.interop.PeerSocket;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A peer of another implementation: one socket, which connects again by itself when a connection breaks. */
final class ForeignPeer {

    private static final Duration WAIT = Duration.ofMillis(10);
    private static final int QUEUE = 20;

    /**
     * JeroMQ sometimes connects and never greets; then it has to notice that itself. Not too soon: a peer that gives up
     * a handshake that is about to succeed loses what the server sends after it.
     */
    private static final Duration HANDSHAKE = Duration.ofSeconds(10);

    private static final Duration HEARTBEAT = Duration.ofMillis(700);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Link link;
    private final Plan plan;
    private final Totals totals;
    private final Random shape;
    private final PeerSocket socket;
    private final String name;
    private final Link.Inbox inbox;
    private final @Nullable OutgoingStream outgoing;

    private @Nullable ZMTPMessage pending;
    private boolean sentEnd;
    private long lastEnd;
    private boolean gotEnd;
    private int seen;
    private boolean faultDone;
    private boolean gone;

    private ForeignPeer(Link link, PeerSocket socket, Totals totals, Random shape) {
        this.link = link;
        this.plan = link.plan();
        this.socket = socket;
        this.totals = totals;
        this.shape = shape;
        this.name = plan.kind() + " peer";
        this.inbox = link.new Inbox(name, false);
        this.outgoing = plan.pattern().isUp() ? link.newOutgoing(false) : null;
    }

    /**
     * Connects to a port of the loopback interface and returns when all is sent, or when the peer has left before.
     *
     * @param breaks whether the connection may be broken although that is not planned
     */
    static void converse(Link link, int port, boolean breaks, Totals totals, Random shape) throws InterruptedException {
        try (PeerContext peer = link.plan().kind().foreign().open()) {
            PeerSocket socket = peer.socket(link.plan().pattern().peer());
            // If a connection breaks while this queue is full, libzmq 4.3.4 aborts the process, by an assertion of its
            // own.
            boolean unlimited = link.plan().kind() == Implementation.LIBZMQ
                    && (breaks || link.plan().isBreaking());
            socket.queues(QUEUE, unlimited ? 0 : QUEUE);
            if (link.plan().kind() == Implementation.JEROMQ) {
                socket.handshakeInterval(HANDSHAKE);
            }
            if (shape.nextInt(2) == 0) {
                socket.heartbeat(HEARTBEAT, LONG, LONG);
            }
            if (link.plan().pattern() == Pattern.SUB_PUB) {
                socket.subscribe(Numbered.TOPIC);
            }
            socket.connect(port);
            ForeignPeer self = new ForeignPeer(link, socket, totals, shape);
            try {
                self.talk();
            } finally {
                self.dropPending();
            }
            link.closing(link.plan().kind() + " peer");
        }
    }

    private void dropPending() {
        if (pending != null) {
            pending.release();
        }
    }

    private void talk() throws InterruptedException {
        while (!gone && !isDone()) {
            if (link.hangs(Slot.PATIENCE)) {
                link.violated(name + " hangs: nothing has happened for " + Slot.PATIENCE);
                return;
            }
            boolean sent = outgoing != null && send();
            receive(sent ? Duration.ZERO : WAIT);
        }
    }

    /** A server that got the end says so by its own, or, if it has none, on the link, which is no part of the wire. */
    private boolean isDone() {
        return plan.pattern().isDown() ? gotEnd : link.isEnded();
    }

    /** Sends the next message, or the end once more if it may have been lost; returns whether something was sent. */
    private boolean send() throws InterruptedException {
        boolean end = outgoing.written() >= plan.up();
        if (pending == null) {
            if (end && sentEnd && !(link.isBroken() && System.nanoTime() - lastEnd > AGAIN_NANOS)) {
                return false;
            }
            Numbered next = outgoing.next(end);
            pending = next.toMessage(UnpooledByteBufAllocator.DEFAULT, shape);
            if (next.end()) {
                if (!sentEnd) {
                    link.note(name + " sends " + next);
                }
                sentEnd = true;
                lastEnd = System.nanoTime();
            }
        }
        if (!socket.send(pending, plan.pattern().isDown() ? Duration.ZERO : WAIT)) {
            return false;
        }
        totals.count("messages sent", name);
        totals.add("bytes sent", name, pending.readableBytes());
        pending.release();
        pending = null;
        seen();
        return true;
    }

    private void receive(Duration wait) throws InterruptedException {
        if (!plan.pattern().isDown()) {
            if (!wait.isZero()) {
                Thread.sleep(wait.toMillis());
            }
            return;
        }
        ZMTPMessage message = socket.receive(wait);
        if (message != null) {
            Numbered said = inbox.take(message);
            gotEnd |= said != null && said.end();
            seen();
        }
    }

    private void seen() throws InterruptedException {
        seen++;
        if (faultDone
                || plan.peer().kind() == EndFault.Kind.NONE
                || seen <= plan.peer().after()) {
            return;
        }
        faultDone = true;
        totals.count("faults", name + ", " + (plan.peer().kind() == EndFault.Kind.PAUSE ? "PAUSE" : "LEAVES"));
        if (plan.peer().kind() == EndFault.Kind.PAUSE) {
            link.note(name + " does nothing for " + plan.peer().millis() + " ms");
            Thread.sleep(plan.peer().millis());
        } else {
            link.broke(name + " leaves");
            gone = true;
        }
    }
}
