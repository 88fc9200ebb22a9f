package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.MessageAges;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The sends of threads and of futures that wait for room, in order of arrival. */
final class WaitingSends implements MessageAges.Queue {

    static final String NO_MEMORY = "there is no memory for a waiting send";

    private final SocketContext context;
    private final BooleanSupplier sendsWait;
    private final Consumer<Sent> hand;
    private final Predicate<QueuedMessage> offer;
    private final Runnable capacityFreed;
    private final Runnable missed;

    /** Number of waiting sends, including sends that are on their way to the event loop. */
    private final AtomicInteger size = new AtomicInteger();

    // On the event loop
    private final Deque<InLine> waiting = new ConsistentDeque<>();
    private boolean failed;

    /** Number of waiting sends that were made on the event loop. */
    private int ofHandlers;

    private final AtomicBoolean lookScheduled = new AtomicBoolean();
    private final Runnable lookTask = this::look;

    /**
     * @param sendsWait whether sends may wait here
     * @param hand hands a send of another thread over to the event loop, where it arrives
     * @param offer sends a message if there is room, on the event loop
     * @param capacityFreed called on the event loop when a send of another thread has joined, because there might be
     * room now
     * @param missed called when a send was refused
     */
    WaitingSends(
            SocketContext context,
            BooleanSupplier sendsWait,
            Consumer<Sent> hand,
            Predicate<QueuedMessage> offer,
            Runnable capacityFreed,
            Runnable missed) {
        this.context = context;
        this.sendsWait = sendsWait;
        this.hand = hand;
        this.offer = offer;
        this.capacityFreed = capacityFreed;
        this.missed = missed;
    }

    /** Returns whether no send waits. From any thread. */
    boolean isEmpty() {
        return size.get() == 0;
    }

    /** From any thread. */
    int size() {
        return size.get();
    }

    /**
     * Takes ownership of the message, which fails if it may not wait. From any thread.
     *
     * @param most maximum number of waiting sends, including this send
     */
    void join(QueuedMessage outgoing, int most) {
        if (!sendsWait.getAsBoolean()) {
            refuse(outgoing, "the queue is full");
        } else if (size.incrementAndGet() > most) {
            size.decrementAndGet();
            refuse(outgoing, "waiting sends: " + most + " (expected: fewer, see maxWaitingSends)");
        } else if (context.inEventLoop()) {
            add(new Offered(outgoing, true));
        } else {
            hand(new Offered(outgoing, false));
        }
    }

    /** Adds a waiting thread. The number of threads is not limited. Not on the event loop. */
    void join(InLine thread) {
        size.incrementAndGet();
        try {
            hand(thread);
        } catch (OutOfMemoryError e) { // it is on its way, and leaves when it arrives with the next send
            thread.noMemory();
        }
    }

    private void hand(InLine comes) {
        hand.accept(new Sent.Joining(this, comes));
    }

    /** Fails a send that has not arrived. From any thread. */
    void fail(InLine comes) {
        size.decrementAndGet();
        comes.closed();
    }

    /** Called when a send has stopped waiting. From any thread. */
    void forgetThoseThatLeft() {
        context.execute(() -> {
            for (Iterator<InLine> each = waiting.iterator(); each.hasNext(); ) {
                if (each.next().hasLeft()) {
                    each.remove();
                    size.decrementAndGet();
                }
            }
            capacityFreed.run(); // later sends might need less room, or none
        });
    }

    /**
     * Has the event loop check for room again, if any sends wait. From any thread; a refused sender on the event loop
     * has taken no room for a moment.
     */
    void lookAgain() {
        if (size.get() > 0 && !context.inEventLoop()) {
            context.executeOnce(lookScheduled, lookTask);
        }
    }

    private void look() {
        lookScheduled.set(false);
        capacityFreed.run();
    }

    private void refuse(QueuedMessage outgoing, String why) {
        context.tally().dropped();
        outgoing.fail(context.completions(), FULL, why);
        missed.run();
    }

    void arrive(InLine comes) {
        if (failed) { // after it was sent
            fail(comes);
        } else if (comes.hasLeft()) { // on its way here
            size.decrementAndGet();
            capacityFreed.run();
        } else {
            add(comes);
            capacityFreed.run();
        }
    }

    // On the event loop

    private void add(InLine comes) {
        try {
            context.messageAges().added(this);
            waiting.add(comes);
            ofHandlers += isOfHandler(comes) ? 1 : 0;
        } catch (OutOfMemoryError e) {
            size.decrementAndGet();
            comes.noMemory();
        }
    }

    @Override
    public int dropOld(int most) {
        List<Offered> old = new ArrayList<>();
        for (Iterator<InLine> each = waiting.iterator(); each.hasNext() && old.size() < most; ) {
            if (each.next() instanceof Offered offered) { // and not a thread, which has a limit of its own
                if (!isTooOld(offered)) {
                    break;
                }
                each.remove();
                old.add(offered);
            }
        }
        old.forEach(this::expire);
        if (!old.isEmpty()) {
            capacityFreed.run(); // later sends might need less room, or none
        }
        return old.size();
    }

    @Override
    public boolean hasMessages() {
        return !waiting.isEmpty();
    }

    private boolean isTooOld(Offered offered) {
        return context.isTooOld(offered.message.since());
    }

    private static boolean isOfHandler(InLine waits) {
        return waits instanceof Offered offered && offered.isOfHandler;
    }

    /** Called when a send no longer waits. */
    private void left(InLine send) {
        size.decrementAndGet();
        ofHandlers -= isOfHandler(send) ? 1 : 0;
    }

    /** Returns whether a send of this event loop waits, which its later messages must not overtake. */
    boolean hasSendOfHandler() {
        return ofHandlers > 0;
    }

    private void expire(Offered late) {
        left(late); // first, because its sender can send again when it is notified
        context.expire(late.message.message(), late.message.result());
    }

    boolean hasNext() {
        return !waiting.isEmpty();
    }

    /** Serves the first send, or drops it if it is too old. Returns false if it still has to wait. */
    boolean serveFirst() {
        InLine first = waiting.remove(); // now, because serving it can lead here
        if (first instanceof Offered offered && isTooOld(offered)) {
            expire(offered);
            return true;
        }
        if (!first.served()) {
            waiting.addFirst(first);
            return false;
        }
        left(first);
        return true;
    }

    /** Fails all waiting sends, and all later sends. */
    void failAll() {
        failed = true;
        for (InLine next = waiting.poll(); next != null; next = waiting.poll()) {
            left(next);
            next.closed();
        }
    }

    /** A message whose sender has a future. */
    private final class Offered implements InLine {
        private final QueuedMessage message;
        private final boolean isOfHandler;

        Offered(QueuedMessage message, boolean isOfHandler) {
            this.message = message;
            this.isOfHandler = isOfHandler;
        }

        @Override
        public boolean served() {
            return offer.test(message);
        }

        @Override
        public void closed() {
            context.tally().dropped();
            message.fail(context.completions(), CLOSED, "the socket is closed");
        }

        @Override
        public void noMemory() {
            refuse(message, NO_MEMORY);
        }

        @Override
        public boolean hasLeft() {
            return false;
        }
    }
}
