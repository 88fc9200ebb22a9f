package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message of another thread on its way to the event loop, for which the credit has given room. */
sealed interface Sent {

    /** Returns the length of the message, which is given back to the credit. */
    long bytes();

    default void giveBack(Credit credit) {
        credit.give(1, bytes());
    }

    /** Returns the future of the sender; null if there is none, or if a request fails its own. */
    @Nullable
    CompletableFuture<Void> result();

    /** Called on the event loop. */
    void arrive();

    /** Releases the message, which does not arrive, and notifies its sender. From any thread. */
    void refuse(SocketContext context, Reason reason, String text);

    /**
     * A message for the peers that the type of the socket chooses.
     *
     * @param bytes its length, which a message that its sender has also released does not have any more
     * @param since the time when it was accepted
     */
    record ToAny(
            Senders senders, ZMTPMessage message, @Nullable CompletableFuture<Void> result, long bytes, long since)
            implements Sent {
        ToAny(Senders senders, SocketContext context, ZMTPMessage message, @Nullable CompletableFuture<Void> result) {
            this(senders, message, result, message.readableBytes(), context.birthTime());
        }

        @Override
        public void arrive() {
            senders.arrived(this);
        }

        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            context.drop(null, message, result, reason, text);
        }
    }

    /**
     * A message for a given peer.
     *
     * @param occupant the {@link Peer#occupant()} that the message is for
     * @param way how the message uses the peer's queue
     * @param bytes its length, as above
     */
    record ToPeer(
            DirectSends sends,
            Peer peer,
            int occupant,
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            Way way,
            long bytes)
            implements Sent {
        enum Way {
            /** It needs room in the queue when it arrives. */
            QUEUE,
            /** It has a reserved place in the queue. */
            PLACE,
            /** Like {@link #PLACE}, as long as the peer has the name that the message was sent to. */
            NAMED_PLACE,
            /** It is added beyond the limit, because it answers a request of the peer. */
            ANSWER
        }

        @Override
        public void arrive() {
            sends.arrived(this);
        }

        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            if (way == Way.PLACE || way == Way.NAMED_PLACE) {
                sends.giveBack(peer);
            }
            context.drop(peer, message, result, reason, text);
        }
    }

    /** A request, which handles its own arrival. */
    record Asked(Outgoing request) implements Sent {
        @Override
        public long bytes() {
            return request.bytes();
        }

        @Override
        public @Nullable CompletableFuture<Void> result() {
            return null;
        }

        @Override
        public void arrive() {
            request.accepted();
        }

        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            request.refuse(reason, text);
        }
    }

    /** An element that takes no room on the way, and has no future of its sender. */
    sealed interface WithoutRoom extends Sent {
        @Override
        default long bytes() {
            return 0;
        }

        @Override
        default void giveBack(Credit credit) {}

        @Override
        default @Nullable CompletableFuture<Void> result() {
            return null;
        }
    }

    /** An answer in its order among the messages of its thread, which needs no room because requests have places. */
    record Answer(Runnable task) implements WithoutRoom {
        @Override
        public void arrive() {
            task.run();
        }

        /** Runs the task anyway, which frees the place of the request. */
        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            context.executeLaterAnyway(task);
        }
    }

    /** A send that has found no room, in its order among the messages of its thread. Then it waits in the line. */
    record Joining(WaitingSends line, InLine send) implements WithoutRoom {
        @Override
        public void arrive() {
            line.arrive(send);
        }

        /** Joins the line anyway, as no earlier message is on its way. If that has ended, the send fails there. */
        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            if (!context.tryExecute(() -> line.arrive(send))) {
                line.fail(send);
            }
        }
    }

    /** A task that follows earlier messages. */
    record Then(Runnable task, SocketContext context) implements WithoutRoom {
        /** Runs the task later, because the socket is in the middle of a call. */
        @Override
        public void arrive() {
            context.execute(task);
        }

        @Override
        public void refuse(SocketContext its, Reason reason, String text) {
            context.execute(task); // as no earlier message is on its way
        }
    }
}
