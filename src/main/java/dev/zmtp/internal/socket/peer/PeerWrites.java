package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DROPPED;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.UNKNOWN;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.WRITTEN;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The messages that are written to one connection, and their fate. A message whose sender wants no result has no
 * promise: a barrier decides the fate of all of them since the last one. Used on the event loop.
 */
final class PeerWrites {

    private static final int MAX_UNCONFIRMED = 1_024;

    private final SocketContext context;
    private final ChannelHandlerContext ctx;
    private final String endpoint;
    private final Queue<Object> control = new ArrayDeque<>(0);
    private final Runnable turnTask = this::turn;
    private @Nullable Peer peer;
    private boolean turnScheduled;
    private boolean unflushed;

    /** Something was written since the last turn. */
    private boolean busy;

    /** The number of messages without a result since the last barrier. */
    private long unconfirmed;

    /** The messages whose fate is not known. */
    private long unfinished;

    PeerWrites(SocketContext context, ChannelHandlerContext ctx, String endpoint) {
        this.context = context;
        this.ctx = ctx;
        this.endpoint = endpoint;
    }

    /** The handshake has succeeded, so messages are written from now on, to this peer. */
    void to(Peer peer) {
        this.peer = peer;
    }

    private Peer peer() {
        return Objects.requireNonNull(peer, "a message was written"); // and only a peer is written to
    }

    /** Whether there is room for a message, and no command to be written before it. */
    boolean isOpen() {
        return ctx.channel().isWritable() && control.isEmpty();
    }

    /** Whether the fate of each message is known that was written here. */
    boolean isIdle() {
        return unfinished == 0;
    }

    void write(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        unfinished++;
        context.tally().unconfirmed(1);
        if (result == null) {
            unconfirmed++;
            busy = true;
            ctx.write(message, ctx.voidPromise());
        } else {
            ctx.write(message).addListener(f -> told(result, f.cause()));
        }
        flushSoon();
    }

    /** Counts the fate of a message before its sender is notified. */
    private void told(CompletableFuture<Void> result, @Nullable Throwable failure) {
        Peer to = peer();
        if (failure == null) {
            to.counters().add(WRITTEN, 1);
            result.complete(null);
        } else if (failure instanceof IOException || !ctx.channel().isActive()) { // the transport's: it may have a part
            to.counters().add(UNKNOWN, 1);
            result.completeExceptionally(new ZMTPSocketException(
                    ZMTPSocketException.Reason.UNKNOWN, "connection to " + endpoint + " ended", failure));
        } else {
            to.counters().add(DROPPED, 1);
            result.completeExceptionally(failure);
        }
        settled(to, 1);
    }

    /** Writes a subscription or a membership, which is never dropped and comes before all messages. */
    void command(Object command) {
        control.add(command);
        commands();
    }

    /** Writes the commands that there is room for. */
    void commands() {
        while (!control.isEmpty() && ctx.channel().isWritable()) {
            ctx.write(control.poll(), ctx.voidPromise());
            flushSoon();
        }
    }

    /** Flushes when the tasks that are due now have also written, or at once if the transport has no room left. */
    private void flushSoon() {
        unflushed = true;
        if (!ctx.channel().isWritable()) {
            flush();
        }
        scheduleTurn();
    }

    /** Flushes what was written here, if anything was. */
    void flush() {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    private void scheduleTurn() {
        if (!turnScheduled) {
            turnScheduled = true;
            ctx.executor().execute(turnTask);
        }
    }

    /**
     * One turn of the event loop. A barrier costs as much as a small batch, so it is written only after many messages,
     * or when no more are written.
     */
    private void turn() {
        turnScheduled = false;
        if (unconfirmed >= MAX_UNCONFIRMED || (unconfirmed > 0 && !busy)) {
            confirm();
        }
        busy = false;
        flush();
        if (unconfirmed > 0) {
            scheduleTurn();
        }
    }

    /** Writes a barrier, which follows everything that was written before it. */
    private void confirm() {
        Peer to = peer();
        long messages = unconfirmed;
        unconfirmed = 0;
        unflushed = true;
        ctx.write(Unpooled.EMPTY_BUFFER).addListener(f -> confirmed(to, messages, f.isSuccess()));
    }

    private void confirmed(Peer to, long messages, boolean written) {
        if (written) {
            to.counters().add(WRITTEN, messages);
        } else {
            to.counters().add(UNKNOWN, messages);
        }
        settled(to, messages);
    }

    /** Called when the fate of messages is known. */
    private void settled(Peer to, long messages) {
        unfinished -= messages;
        context.confirmed(messages);
        to.drained();
    }

    /**
     * Called when the connection has ended: nobody knows what became of those messages that no barrier stands for.
     *
     * @return how many these are, for {@link #forget}
     */
    long end() {
        long lost = unconfirmed;
        unconfirmed = 0;
        if (lost > 0) {
            peer().counters().add(UNKNOWN, lost);
        }
        return lost;
    }

    /** Called once all else of the connection has ended: nobody waits for the fate of these messages. */
    void forget(long lost) {
        unfinished -= lost;
        context.confirmed(lost);
    }
}
