package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.Settings;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.internal.socket.send.ByName.Named;
import dev.zmtp.internal.socket.send.Sent.ToPeer.Way;
import dev.zmtp.internal.socket.send.WaitingThread.State;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The sends of threads that wait for room. They return when the message is on its way to the event loop. Not on an
 * event loop.
 * <p>A thread that finds no room joins a queue. Once the room has been used up, no thread continues until a quarter is
 * free, so that a thread which is woken sends many messages before it has to wait again.
 */
public final class BlockingSends {

    private final SocketContext context;
    private final Senders senders;
    private final WaitingSends waitingSends;
    private final PlaceLines places;
    private final @Nullable ByName named;

    /** True if the room was used up, and a good part of it has not become free since. On the event loop. */
    private boolean holds;

    BlockingSends(
            SocketContext context,
            Senders senders,
            WaitingSends waitingSends,
            PlaceLines places,
            @Nullable ByName named) {
        this.context = context;
        this.senders = senders;
        this.waitingSends = waitingSends;
        this.places = places;
        this.named = named;
    }

    /**
     * Takes ownership of the message, and waits for room.
     *
     * @param timeout null for no limit
     * @throws ZMTPSocketException if the message was not accepted; the message is released then, as it is after an
     * interrupt
     */
    public void send(ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException {
        begin(message);
        Named to = named == null ? null : addressee(named, message);
        if (to == null || context.config().overflowPolicy() != OverflowPolicy.WAIT) {
            if (senders.keepsNewest() && senders.trySend(message)) {
                return;
            }
            long bytes = message.readableBytes();
            awaitRoom(message, bytes, nanos(timeout), timeout);
            senders.hand(new Sent.ToAny(senders, message, null, bytes, context.birthTime()));
        } else {
            long bytes = DirectSends.lengthWithoutName(message);
            reserve(to.peer(), message, bytes, timeout);
            check(to.peer(), to.occupant() == to.peer().occupant() && isNamed(to.peer()), message, bytes);
            senders.directly().handNamed(to.peer(), to.occupant(), message, bytes);
        }
    }

    /** Like {@link #send(ZMTPMessage, Duration)}, to this peer, and waits for room in its queue. */
    public void send(Peer to, ZMTPMessage message, @Nullable Duration timeout) throws InterruptedException {
        begin(message);
        boolean waits = context.config().overflowPolicy() == OverflowPolicy.WAIT;
        int occupant = to.occupant();
        long bytes = message.readableBytes();
        if (waits) {
            reserve(to, message, bytes, timeout);
            check(to, occupant == to.occupant(), message, bytes);
        } else if (DirectSends.isThere(to)) {
            awaitRoom(message, bytes, nanos(timeout), timeout);
        } else {
            throw refused(message, PEER_DOWN, "the peer has left");
        }
        Way way = waits ? Way.PLACE : Way.QUEUE;
        senders.hand(new Sent.ToPeer(senders.directly(), to, occupant, message, null, way, bytes));
    }

    private boolean isNamed(Peer peer) {
        return named != null && named.isNamed(peer);
    }

    /** Gives a reserved place and room back if there is another peer at the endpoint, or with the name, by now. */
    private void check(Peer to, boolean isThere, ZMTPMessage message, long bytes) {
        if (!isThere) {
            places.giveBack(to);
            senders.giveRoomBack(bytes);
            throw refused(message, PEER_DOWN, "the peer has left");
        }
    }

    /**
     * Takes ownership of the answer to a request, and waits for room on the way to the event loop, where it is not
     * refused. If the queue of the peer is full by now, the answer fails with {@code FULL}.
     *
     * @param occupant the {@link Peer#occupant()} that made the request
     * @param enveloped returns the message to send, which is longer by {@code more} bytes
     */
    public void answer(
            Peer to,
            int occupant,
            ZMTPMessage answer,
            long more,
            UnaryOperator<ZMTPMessage> enveloped,
            @Nullable Duration timeout)
            throws InterruptedException {
        begin(answer);
        checkHasOwner(answer);
        if (!to.isUp() || occupant != to.occupant()) {
            throw refused(answer, PEER_DOWN, "the peer has left");
        }
        if (context.config().overflowPolicy() == OverflowPolicy.WAIT
                && !to.queue().hasRoom()) {
            throw refused(answer, FULL, "the queue of the peer is full");
        }
        long bytes = answer.readableBytes() + more;
        awaitRoom(answer, bytes, nanos(timeout), timeout);
        ZMTPMessage whole;
        try {
            checkHasOwner(answer);
            whole = enveloped.apply(answer);
        } catch (RuntimeException e) { // it was released in the meantime
            senders.giveRoomBack(bytes);
            throw e;
        }
        senders.hand(new Sent.ToPeer(senders.directly(), to, occupant, whole, null, Way.ANSWER, bytes));
    }

    /** Checks the answer before it takes the envelope of its request. */
    private void checkHasOwner(ZMTPMessage answer) {
        if (answer.refCnt() == 0) {
            context.tally().dropped();
            throw new IllegalReferenceCountException("answer: released (expected: a message with an owner)");
        }
    }

    private void begin(ZMTPMessage message) throws InterruptedException {
        if (context.isClosed()) {
            throw refused(message, CLOSED, "");
        }
        if (Thread.interrupted()) {
            throw interrupted(message, new InterruptedException());
        }
    }

    private Named addressee(ByName byName, ZMTPMessage message) {
        if (message.size() < 2) {
            String text = "frames: " + message.size() + " (expected: the routing id of a peer, and the message)";
            throw refused(message, UNROUTABLE, text);
        }
        Named found = byName.occupant(message.frame(0));
        if (found == null || !DirectSends.isThere(found.peer())) {
            String name = PeerInfo.text(message.frame(0).nioBuffer());
            throw refused(message, UNROUTABLE, "no peer has the routing id " + name);
        }
        return found;
    }

    /**
     * Reserves a place in the queue of the peer, and room on the way there. A thread that waits for one of them holds
     * nothing of the other, because messages to all peers take room and then wait for places.
     */
    private void reserve(Peer to, ZMTPMessage message, long bytes, @Nullable Duration timeout)
            throws InterruptedException {
        if (!DirectSends.isThere(to)) {
            throw refused(message, PEER_DOWN, "the peer has left");
        }
        boolean hasPlace = places.reserve(to);
        if (hasPlace && hasRoom(bytes)) {
            return;
        }
        long nanos = nanos(timeout);
        long end = System.nanoTime() + nanos;
        while (true) {
            if (!hasPlace) {
                awaitPlace(to, message, left(nanos, end), timeout);
                if (hasRoom(bytes)) {
                    return;
                }
            }
            places.giveBack(to);
            awaitRoom(message, bytes, left(nanos, end), timeout);
            hasPlace = places.reserve(to);
            if (hasPlace) {
                return;
            }
            senders.giveRoomBack(bytes);
        }
    }

    private static long left(long nanos, long end) {
        return nanos == Long.MAX_VALUE ? nanos : end - System.nanoTime();
    }

    private void awaitPlace(Peer to, ZMTPMessage message, long nanos, @Nullable Duration timeout)
            throws InterruptedException {
        if (nanos <= 0) {
            to.outbound().missedElsewhere();
            throw late(message, timeout);
        }
        WaitingThread waits = new WaitingThread();
        places.join(to, waits);
        await(waits, message, nanos, timeout, () -> {
            to.outbound().missedElsewhere();
            places.left(to);
        });
    }

    private void awaitRoom(ZMTPMessage message, long bytes, long nanos, @Nullable Duration timeout)
            throws InterruptedException {
        if (hasRoom(bytes)) {
            return;
        }
        if (senders.dropsNew()) {
            senders.refused();
            throw refused(message, FULL, "the queue is full");
        }
        if (nanos <= 0) {
            senders.refused();
            throw late(message, timeout);
        }
        WaitingThread waits = new WaitingThread();
        waitingSends.join(new ForRoom(waits, bytes));
        await(waits, message, nanos, timeout, () -> {
            senders.writability().missed();
            waitingSends.forgetThoseThatLeft();
        });
    }

    /** Reserves room on the way to the event loop if there is some now. */
    private boolean hasRoom(long bytes) {
        return senders.takesMessages() && senders.takeRoom(bytes);
    }

    /**
     * Waits until the thread has room.
     *
     * @param gaveUp called if it stops waiting without
     */
    private void await(
            WaitingThread waits, ZMTPMessage message, long nanos, @Nullable Duration timeout, Runnable gaveUp)
            throws InterruptedException {
        try {
            check(message, waits.await(nanos), timeout);
        } catch (InterruptedException e) {
            throw interrupted(message, e);
        } finally {
            if (waits.state() == State.GAVE_UP) {
                gaveUp.run();
            }
        }
    }

    private void check(ZMTPMessage message, State outcome, @Nullable Duration timeout) {
        switch (outcome) {
            case HAS_ROOM -> {}
            case CLOSED -> throw refused(message, CLOSED, "");
            case NO_MEMORY -> throw refused(message, FULL, WaitingSends.NO_MEMORY);
            case PEER_LEFT -> throw refused(message, PEER_DOWN, "the peer has left");
            default -> throw late(message, timeout);
        }
    }

    private static long nanos(@Nullable Duration timeout) {
        return timeout == null ? Long.MAX_VALUE : Settings.nanos(timeout);
    }

    private ZMTPSocketException late(ZMTPMessage message, @Nullable Duration timeout) {
        return refused(message, TIMEOUT, "no room within " + timeout);
    }

    /** Drops the message. If the socket was closed in the meantime, that is the reason of every failure. */
    private ZMTPSocketException refused(ZMTPMessage message, Reason reason, String text) {
        drop(message);
        boolean closed = context.isClosed();
        return new ZMTPSocketException(closed ? CLOSED : reason, closed ? "the socket is closed" : text)
                .withStackTrace();
    }

    private InterruptedException interrupted(ZMTPMessage message, InterruptedException e) {
        drop(message);
        return e;
    }

    private void drop(ZMTPMessage message) {
        context.tally().dropped();
        ReferenceCountUtil.safeRelease(message);
    }

    /** A thread in the queue of all sends that wait for room. */
    private final class ForRoom implements InLine {
        private final WaitingThread thread;
        private final long bytes;

        ForRoom(WaitingThread thread, long bytes) {
            this.thread = thread;
            this.bytes = bytes;
        }

        @Override
        public boolean served() {
            if (!thread.waits()) {
                return true;
            }
            if (!senders.isReachable() || (holds && !senders.writability().letsThreadsContinue())) {
                return false;
            }
            holds = !senders.takeRoom(bytes);
            if (!holds && !thread.end(State.HAS_ROOM)) {
                senders.credit().give(1, bytes);
            }
            return !holds;
        }

        @Override
        public void closed() {
            thread.end(State.CLOSED);
        }

        @Override
        public void noMemory() {
            thread.end(State.NO_MEMORY);
        }

        @Override
        public boolean hasLeft() {
            return !thread.waits();
        }
    }
}
