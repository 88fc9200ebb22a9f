package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;

/**
 * A request that a REP or ROUTER has received, and the way back: the peer that it came from, and the envelope, which
 * has a name for each ROUTER on the way (RFC 28). The handler of {@link ZMTPSocket#serve} gets it.
 */
public final class ZMTPRequest {

    private final SocketCore core;
    private final ZMTPPeer peer;
    private final ByteBuf[] envelope;
    private final ZMTPMessage message;

    private ZMTPRequest(SocketCore core, ZMTPPeer peer, ByteBuf[] envelope, ZMTPMessage message) {
        this.core = core;
        this.peer = peer;
        this.envelope = envelope;
        this.message = message;
    }

    /** Takes the message over, which has an envelope of {@code frames} frames. */
    static ZMTPRequest of(SocketCore core, ZMTPPeer peer, ZMTPMessage message, int frames) {
        return new ZMTPRequest(core, peer, Envelope.copy(message, frames), Envelope.data(message, frames));
    }

    /** As {@link #of(SocketCore, ZMTPPeer, ZMTPMessage, int)} of a message that nobody else has. */
    static ZMTPRequest of(
            SocketCore core, ZMTPPeer peer, ZMTPMessage message, int frames, ZMTPMessage.Builder builder) {
        ByteBuf[] envelope = Envelope.copy(message, frames);
        return new ZMTPRequest(core, peer, envelope, Envelope.data(builder, message, frames));
    }

    /** The peer that has sent or forwarded the request. */
    public ZMTPPeer peer() {
        return peer;
    }

    /** The data of the request, without the envelope. It is released when the answer is known: retain it to keep it. */
    public ZMTPMessage message() {
        return message;
    }

    /** Sends the answer, which it takes over. May be called once. */
    CompletableFuture<Void> answer(ZMTPMessage answer) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        core.directly().send(peer, Envelope.wrap(envelope, answer), result);
        return result;
    }

    /** Sends the answer of a handler, which it takes over. Once, in place of {@link #answer}, on the event loop. */
    void reply(ZMTPMessage answer, ZMTPMessage.Builder builder) {
        Envelope.begin(builder, answer);
        for (ByteBuf frame : envelope) {
            builder.add(frame);
        }
        core.directly().answer(peer, Envelope.with(builder, answer));
    }

    @Override
    public String toString() {
        return "ZMTPRequest{" + peer + ", " + message + "}";
    }
}
