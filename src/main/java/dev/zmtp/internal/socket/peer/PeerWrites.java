package dev.zmtp.internal.socket.peer;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DROPPED;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.RECEIVED_BYTES;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.UNKNOWN;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.WRITTEN;
import static dev.zmtp.internal.socket.context.PeerCounters.Counter.WRITTEN_BYTES;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.runtime.TransportCounts;
import dev.zmtp.internal.socket.context.PendingFlushes;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The messages that are written to a connection, and their fate. The connection counts the written messages, so a
 * message whose sender needs no result needs no promise. Used on the event loop.
 */
final class PeerWrites implements PendingFlushes.Writes, TransportCounts.Listener {

    private final SocketContext context;
    private final ChannelHandlerContext ctx;
    private final String endpoint;

    private @Nullable Peer peer;
    private boolean unflushed;

    /** True if the socket's {@link PendingFlushes} contain this object. */
    private boolean listed;

    /** Number of messages that were written to the peer earlier, over other connections. */
    private long writtenBefore;

    /** Number of messages whose fate is not known. */
    private long unfinished;

    private boolean ended;
    private @Nullable Asked firstAsked;
    private @Nullable Asked lastAsked;

    PeerWrites(SocketContext context, ChannelHandlerContext ctx, String endpoint) {
        this.context = context;
        this.ctx = ctx;
        this.endpoint = endpoint;
    }

    /** Called when the handshake has succeeded. Messages are written to this peer from now on. */
    void to(Peer peer, TransportCounts counts) {
        this.peer = peer;
        writtenBefore = peer.counters().get(WRITTEN);
        counts.listen(this);
    }

    Peer peer() {
        return Objects.requireNonNull(peer, "a message was written"); // and messages are only written to a peer
    }

    /** Returns whether there is room for a message or a command. */
    boolean haveRoom() {
        return ctx.channel().isWritable();
    }

    /** Returns whether the fate of every message written here is known. */
    boolean isIdle() {
        return unfinished == 0;
    }

    /** Returns whether any message has been passed to the transport. */
    boolean haveBegun() {
        return unfinished > 0 || peer().counters().get(WRITTEN) > writtenBefore;
    }

    void write(ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
        unfinished++;
        context.tally().unconfirmed(1);
        long bytes = message.readableBytes(); // first, because the write takes ownership of the message
        if (result == null) {
            ctx.write(message, ctx.voidPromise());
        } else {
            ctx.write(message).addListener(new Asked(result));
        }
        flushSoon(bytes);
    }

    @Override
    public void written(int messages) {
        peer().counters().add(WRITTEN, messages);
        settled(messages);
    }

    @Override
    public void transferred(long received, long sent) {
        if (received > 0) {
            peer().counters().add(RECEIVED_BYTES, received);
        }
        if (sent > 0) {
            peer().counters().add(WRITTEN_BYTES, sent);
            peer().memory().transferred(sent);
        }
    }

    /** Counts the fate of a message before its sender is notified. A written message is already counted. */
    private void told(CompletableFuture<Void> result, @Nullable Throwable failure) {
        if (failure == null) {
            context.completions().succeed(result);
        } else {
            boolean mayHaveAPart =
                    failure instanceof IOException || !ctx.channel().isActive(); // the transport
            if (!ended) { // otherwise it was counted with the others
                peer().counters().add(mayHaveAPart ? UNKNOWN : DROPPED, 1);
                settled(1);
            }
            Throwable why = mayHaveAPart ? connectionEnded(failure) : notWritten(failure);
            // Later, because a listener that sends again must not choose this connection, which can be about to end.
            context.completions().failLater(result, why);
        }
    }

    /** Called in the middle of the write of a message without a result that was released, so that it was not sent. */
    void refused() {
        if (!ended) { // otherwise it was counted with the others
            peer().counters().add(DROPPED, 1);
            settled(1);
            context.completions().later(() -> context.drops().dropped(peer, DropReason.RELEASED, 1), false);
        }
    }

    /** Returns the failure of a message that the transport never had, which is its own fault or that of the peer. */
    private Throwable notWritten(Throwable failure) {
        return failure instanceof DecoderException
                ? new ZMTPSocketException(
                        ZMTPSocketException.Reason.PEER_DOWN, "connection to " + endpoint + " failed", failure)
                : failure;
    }

    /** A message whose sender waits for its fate. These messages form a list, the oldest first. */
    private final class Asked implements ChannelFutureListener {
        private final CompletableFuture<Void> result;
        private @Nullable Asked before;
        private @Nullable Asked after;

        Asked(CompletableFuture<Void> result) {
            this.result = result;
            before = lastAsked;
            if (before == null) {
                firstAsked = this;
            } else {
                before.after = this;
            }
            lastAsked = this;
        }

        private void remove() {
            if (before == null) {
                firstAsked = after;
            } else {
                before.after = after;
            }
            if (after == null) {
                lastAsked = before;
            } else {
                after.before = before;
            }
        }

        @Override
        public void operationComplete(ChannelFuture written) {
            remove();
            told(result, written.cause());
        }
    }

    private ZMTPSocketException connectionEnded(@Nullable Throwable cause) {
        return new ZMTPSocketException(
                ZMTPSocketException.Reason.OUTCOME_UNKNOWN, "connection to " + endpoint + " ended", cause);
    }

    void writeCommand(Object command) {
        ctx.write(command, ctx.voidPromise());
        flushSoon(0); // few bytes
    }

    /** Flushes when the tasks that are due now have also written, or at once if the transport has no room left. */
    private void flushSoon(long bytes) {
        unflushed = true;
        if (!ctx.channel().isWritable()) {
            flush();
        }
        list();
        context.flushes().written(bytes);
    }

    /** Flushes the writes made here, if there are any. */
    @Override
    public void flush() {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    private void list() {
        if (!listed) {
            listed = true;
            try {
                context.flushes().add(this);
            } catch (Throwable e) { // there is no memory for it
                listed = false;
                throw e;
            }
        }
    }

    /** Called when the tasks that were due have written. Flushes, and checks whether that was the end. */
    @Override
    public void complete() {
        listed = false;
        flush();
        if (isEndAwaited()) {
            context.settled();
            peer().drained();
        }
    }

    /** Returns whether the socket or the connector closes as soon as all messages have left. */
    private boolean isEndAwaited() {
        return peer != null && (context.isClosed() || peer.isLeaving());
    }

    /** Called when the fate of messages is known, in the middle of a write. */
    private void settled(long messages) {
        unfinished -= messages;
        context.tally().unconfirmed(-messages);
        if (isEndAwaited()) {
            list();
        }
    }

    /**
     * Called when the connection has ended. The fate of messages that are not known to be written will stay unknown.
     *
     * @return the number of these messages, for {@link #forget}
     */
    long end() {
        ended = true;
        long lost = unfinished;
        if (lost > 0) {
            peer().counters().add(UNKNOWN, lost);
        }
        return lost;
    }

    /**
     * Called after everything else of the connection has ended. The fate of these messages is not waited for any more.
     */
    void forget(long lost) {
        unfinished -= lost;
        context.tally().unconfirmed(-lost);
        if (context.eventLoop().isShuttingDown()) { // and might never report the results of the transport
            for (Asked next = firstAsked; next != null; next = next.after) {
                context.completions().fail(next.result, connectionEnded(null));
            }
        }
        context.settled();
    }
}
