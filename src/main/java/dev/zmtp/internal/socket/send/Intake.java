package dev.zmtp.internal.socket.send;

import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;

import dev.zmtp.internal.runtime.CheckReturnValue;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The messages from other threads on their way to the event loop, in order. */
final class Intake {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Senders");

    private final SocketContext context;
    private final Credit credit;

    /** True if the oldest messages make room for new messages. */
    private final boolean keepsNewest;

    private final Runnable drainTask;
    private final Queue<Sent> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    /**
     * @param credit the room for messages
     * @param keepsNewest whether the oldest messages make room for new messages
     * @param drainTask takes the messages, on the event loop. It calls {@link #end} at its end
     */
    Intake(SocketContext context, Credit credit, boolean keepsNewest, Runnable drainTask) {
        this.context = context;
        this.credit = credit;
        this.keepsNewest = keepsNewest;
        this.drainTask = drainTask;
    }

    /** Takes ownership of a message that the credit has accepted. From any thread. */
    void add(Sent sent) {
        queued(sent);
    }

    /** Queues a message, or refuses it and returns false if the event loop has ended. */
    private boolean queued(Sent sent) {
        queue.add(sent);
        boolean runs = schedule();
        if (!runs) {
            failAll(); // no task will take it
        }
        return runs;
    }

    /** Runs a task after the messages that are here now. Returns false if the event loop has ended. From any thread. */
    @CheckReturnValue
    boolean add(Runnable task) {
        if (queue.isEmpty() && !scheduled.get()) { // nothing is on its way
            return context.tryExecute(task);
        }
        return queued(new Sent.Then(task, context));
    }

    /** Schedules the task, unless it is scheduled. Returns false if the event loop has ended. */
    @CheckReturnValue
    boolean schedule() {
        return context.executeOnce(scheduled, drainTask);
    }

    /**
     * Has messages arrive. On the event loop.
     *
     * @param all whether these are all messages that are here now, to which other threads can add all the time.
     * Otherwise they are some, fewer if the task is long, and the rest continues in a later task
     */
    void take(boolean all) {
        int left = all ? queue.size() : LoopBudget.MESSAGES;
        while (left > 0 && takeNext(all) && (all || !context.flushes().isTaskLong())) {
            left--;
        }
    }

    /** Returns whether the next can be taken in the same task. */
    private boolean takeNext(boolean all) {
        if (context.isFinished()) { // the later queues have already failed their messages, and nothing checks again
            return false;
        }
        Sent next = queue.poll();
        if (next == null) {
            return false;
        }
        arrive(next);
        return all || !(next instanceof Sent.Then); // what was sent after a close comes after it
    }

    private void arrive(Sent sent) {
        try {
            sent.arrive();
        } catch (Throwable e) { // such as that there is no memory, which does not concern the next message
            failed(sent.result(), e);
        }
    }

    /** Called when a message could not be sent, because of a fault that does not concern other messages. */
    void failed(@Nullable CompletableFuture<Void> result, Throwable cause) {
        logger.warn("A message was not sent", cause);
        context.tally().dropped();
        if (result != null) {
            context.completions().fail(result, cause);
        }
    }

    /**
     * Called at the end of the task. The remaining messages are taken by a task that runs after the event loop has
     * read. Other threads must not make this task run earlier, so they schedule a task only if no messages remain. On
     * the event loop.
     *
     * @param all whether a close has taken all messages, outside of the task, which can be scheduled as well
     */
    void end(boolean all) {
        if (!all && !queue.isEmpty()) {
            try {
                context.executeAfterReads(drainTask);
            } catch (Throwable e) { // there is no memory for the task, so the next message schedules it
                scheduled.set(false);
                throw e;
            }
            return;
        }
        if (!all) {
            scheduled.set(false);
        }
        if (!queue.isEmpty() && !schedule()) { // added in the meantime
            failAll();
        }
    }

    /** Removes and returns the oldest message; null if there is none. From any thread. */
    @Nullable
    Sent poll() {
        return queue.poll();
    }

    /** Takes credit for a message that is added later. From any thread. */
    @CheckReturnValue
    boolean takeRoom(long bytes) {
        List<Sent> replaced = roomFor(bytes);
        if (replaced != null) {
            refuse(replaced);
        }
        return replaced != null;
    }

    /** Takes ownership of the message if there is credit for it. From any thread. */
    @CheckReturnValue
    boolean addIfRoom(Sent sent) {
        List<Sent> replaced = roomFor(sent.bytes());
        if (replaced == null) {
            return false;
        }
        try {
            queued(sent);
        } finally {
            refuse(replaced); // after it was added, because their senders can send again when they are notified
        }
        return true;
    }

    /** Takes credit for a message. Returns the messages that make room for it; null if there is no room. */
    private @Nullable List<Sent> roomFor(long bytes) {
        if (credit.take(bytes)) {
            return List.of();
        }
        return keepsNewest ? makeRoom(bytes) : null;
    }

    /** Removes the oldest messages until the credit has room for a message. */
    private List<Sent> makeRoom(long bytes) {
        List<Sent> replaced = new ArrayList<>();
        do {
            Sent oldest = queue.poll();
            if (oldest == null) { // the rest is on the event loop, or with a thread that is about to add it
                credit.give(-1, -bytes);
                break;
            }
            oldest.giveBack(credit);
            replaced.add(oldest);
        } while (!credit.take(bytes));
        return replaced;
    }

    private void refuse(List<Sent> replaced) {
        replaced.forEach(oldest -> oldest.refuse(context, FULL, "a newer message took its place"));
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }

    int size() {
        return queue.size();
    }

    /** Refuses all messages, because the socket is closed. From any thread. */
    void failAll() {
        for (Sent next = queue.poll(); next != null; next = queue.poll()) {
            next.refuse(context, CLOSED, "the socket is closed");
        }
    }
}
