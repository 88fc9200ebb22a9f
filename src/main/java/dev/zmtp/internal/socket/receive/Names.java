package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;

/** The name of a peer as the first frame of a message, where the type of the socket has it (RFC 28, 41, 51). */
public final class Names {

    private Names() {}

    /** Returns what the application sees of a message. Takes it over, also if there is no memory for that. */
    public static ZMTPMessage added(SocketContext context, Peer from, ZMTPMessage message) {
        if (!context.namesPeers()) {
            return message;
        }
        byte[] name = from.nameBytes();
        ByteBuf frame;
        try {
            frame = context.allocator().buffer(name.length);
        } catch (Throwable e) {
            ReferenceCountUtil.safeRelease(message);
            throw e;
        }
        return message.prepended(frame.writeBytes(name));
    }

    /** Undoes {@link #added}. Takes the message over. */
    public static ZMTPMessage removed(SocketContext context, ZMTPMessage named) {
        return context.namesPeers() ? named.withoutFirst(1) : named;
    }
}
