package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.SocketContext;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The subscriptions or memberships that are written to a publisher, before all messages, as far as there is room. Used
 * on the event loop.
 */
public final class PeerCommands {

    private final SocketContext context;
    private final PeerWrites writes;
    private final Runnable writeOn;
    private final PendingCommands pending = new PendingCommands();
    private long written;

    /** Part of the pending commands that the memory of the peer contains, in bytes. */
    private long counted;

    /** Number of commands that can be written before the next task. */
    private int left = LoopBudget.MESSAGES;

    /** @param writeOn continues to write what waits for this connection */
    PeerCommands(SocketContext context, PeerWrites writes, Runnable writeOn) {
        this.context = context;
        this.writes = writes;
        this.writeOn = writeOn;
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    long written() {
        return written;
    }

    /** Adds a command. Nothing is written, so no user code is called. */
    public void add(Object command) {
        pending.add(command);
    }

    /**
     * Writes a command, if there is one, and room for it. Called after each {@link #add}, so that the commands of a
     * program do not wait for the task in which more of them can be written. This can call user code.
     */
    public void writeOne() {
        if (writes.haveRoom()) {
            writeNext();
            if (pending.isEmpty() && !writes.peer().queue().isEmpty()) {
                writeOn.run(); // for messages that user code has sent before the command was written
            }
        }
        count();
    }

    /**
     * Writes the commands of a supplier, until it returns null. It is asked for a command whenever there is room. This
     * can call user code.
     */
    public void writeAll(Supplier<@Nullable Object> commands) {
        pending.addAll(commands);
        write();
    }

    /** Writes the commands that there is room for. If they are many, a later task writes the rest. */
    void write() {
        while (left > 0 && writes.haveRoom() && !pending.isEmpty()) {
            if (--left == 0) {
                context.executeAfterReads(this::writeMore);
            }
            writeNext(); // last, because it can call this method
        }
        count();
    }

    private void writeMore() {
        left = LoopBudget.MESSAGES;
        writeOn.run();
    }

    /** Writes a command, if there is one. This can cause others to be added. */
    private void writeNext() {
        long before = pending.bytes();
        Object command = pending.poll();
        if (command != null) {
            writes.peer().memory().moved(before - pending.bytes());
            written++;
            writes.writeCommand(command);
        }
    }

    /** Counts the commands that have to wait. Commands that are written at once are not counted. */
    private void count() {
        long change = pending.bytes() - counted;
        if (change != 0) {
            counted += change;
            writes.peer().memory().commands(change);
        }
    }

    /** Called when the connection is about to end. A peer that does not read can delay the end. */
    void drop() {
        pending.close();
        count();
    }
}
