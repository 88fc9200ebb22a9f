package dev.zmtp.internal.socket.send;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Outgoing;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketException.Reason;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A message of another thread on its way to the event loop. The credit has given it room. */
sealed interface Sent {

    /** Returns the length of the message, for which the credit gets room back. */
    long bytes();

    /** Called on the event loop. */
    void arrive();

    /** Releases the message, which does not arrive, and notifies its sender. From any thread. */
    void refuse(SocketContext context, Reason reason, String text);

    /** A message for the peers that the type of the socket chooses. */
    record ToAny(
            Senders senders, ZMTPMessage message, @Nullable CompletableFuture<Void> result) implements Sent {
        @Override
        public long bytes() {
            return message.readableBytes();
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
     * A message for one peer.
     *
     * @param way what it needs from the peer's queue
     */
    record ToPeer(
            DirectSends sends,
            Peer peer,
            ZMTPMessage message,
            @Nullable CompletableFuture<Void> result,
            Way way) implements Sent {
        enum Way {
            /** It needs room there when it arrives. */
            QUEUE,
            /** It has a place there, which was reserved. */
            PLACE,
            /** It is added beyond the limit, as the answer to what the peer has asked. */
            ANSWER
        }

        @Override
        public long bytes() {
            return message.readableBytes();
        }

        @Override
        public void arrive() {
            sends.arrived(this);
        }

        @Override
        public void refuse(SocketContext context, Reason reason, String text) {
            if (way == Way.PLACE) {
                peer.queue().unreserve();
                peer.roomCame();
            }
            context.drop(peer, message, result, reason, text);
        }
    }

    /** A request, which knows what to do. */
    record Asked(Outgoing request) implements Sent {
        @Override
        public long bytes() {
            return request.bytes();
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
}
