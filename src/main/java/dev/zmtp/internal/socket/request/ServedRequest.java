package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.memory.MessageMemory;
import dev.zmtp.internal.socket.context.RequestObservers;
import dev.zmtp.internal.socket.flight.Flight;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.send.DirectSends;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A request and its way back, which is the peer that it came from, and the envelope. */
final class ServedRequest implements ZMTPRequest {

    private final DirectSends directly;
    private final Peer peer;

    private final int occupant;

    private final ByteBuf[] envelope;
    private final ZMTPMessage message;
    private final long memory;

    /** Holder of its place with the handler. On the event loop. */
    int holder;

    /** Part of the memory that the {@link Places} count. On the event loop. */
    long held;

    /** Notified when the request is answered or dropped; null for a REP that receives and sends in turn. */
    private final @Nullable Serving serving;

    private final AtomicBoolean ended = new AtomicBoolean();

    /** Time at which the handler is called, as {@link RequestObservers#served} returns it. */
    final long start;

    /** Event of the Flight Recorder; null if it is not recorded. */
    final @Nullable Object recorded;

    private ServedRequest(
            DirectSends directly,
            Peer peer,
            int occupant,
            ZMTPMessage message,
            int frames,
            @Nullable Serving serving,
            long start) {
        this.directly = directly;
        this.peer = peer;
        this.occupant = occupant;
        this.memory = MessageMemory.of(message, message.readableBytes());
        this.envelope = Envelope.copy(message, frames);
        this.serving = serving;
        this.start = start;
        this.recorded = serving == null ? null : Flight.beginServe();
        this.message = message.removeFirst(frames); // last, because a message that it has changed can be another
    }

    /**
     * Takes ownership of the message, which has an envelope of {@code frames} frames, even if there is no memory for a
     * copy of it.
     */
    static ServedRequest of(
            DirectSends directly, Peer peer, int occupant, ZMTPMessage message, int frames, @Nullable Serving serving) {
        long start = serving == null ? 0 : serving.start();
        try {
            return new ServedRequest(directly, peer, occupant, message, frames, serving, start);
        } catch (Throwable e) {
            ReferenceCountUtil.safeRelease(message);
            throw e;
        }
    }

    @Override
    public ZMTPPeer peer() {
        return peer;
    }

    /** Returns the peer that sent the request. */
    Peer from() {
        return peer;
    }

    /** Returns the {@link Peer#occupant()} that made the request. */
    int occupant() {
        return occupant;
    }

    /** Returns whether the answer can reach the peer that made the request. */
    boolean isAwaited() {
        return peer.isUp() && occupant == peer.occupant();
    }

    /** Returns the memory that the request takes until it has ended. */
    long memory() {
        return memory;
    }

    @Override
    public ZMTPMessage message() {
        return message;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // checks for this very message
    public boolean reply(ZMTPMessage answer) {
        Objects.requireNonNull(answer, "answer");
        if (!ended.compareAndSet(false, true)) {
            if (answer != message) { // which belongs to whoever has ended the request
                ReferenceCountUtil.safeRelease(answer);
            }
            throw new IllegalStateException("reply: " + this + " was already answered or dropped");
        }
        if (answer != message) {
            ReferenceCountUtil.safeRelease(message);
        }
        boolean there = isAwaited();
        if (serving != null) {
            serving.ended(this, answer);
        }
        return there;
    }

    @Override
    public void drop() {
        if (ended.compareAndSet(false, true)) {
            ReferenceCountUtil.safeRelease(message);
            if (serving != null) {
                serving.ended(this, null);
            }
        }
    }

    /** Sends the answer of a REP that receives and sends in turn. Takes ownership of the answer. Can be called once. */
    void answer(ZMTPMessage answer, @Nullable CompletableFuture<Void> result) {
        directly.send(peer, occupant, enveloped(answer), result);
    }

    /** Returns the length of the envelope, in bytes. */
    long envelopeLength() {
        long length = 0;
        for (ByteBuf frame : envelope) {
            length += frame.readableBytes();
        }
        return length;
    }

    /** Returns the answer to send, with its envelope. Takes ownership of the answer. Can be called once. */
    ZMTPMessage enveloped(ZMTPMessage answer) {
        return answer.prepend(envelope);
    }

    /** Sends the answer of a handler, and takes ownership of it. On the event loop. */
    void send(ZMTPMessage answer) {
        directly.answer(peer, occupant, enveloped(answer));
    }

    @Override
    public String toString() {
        // The message belongs to whoever has ended the request, and can be another one by now.
        return "ZMTPRequest{" + peer + (ended.get() ? "" : ", " + message) + "}";
    }
}
