package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/** The name of a peer as the first frame of a message, if the type of the socket uses names (RFC 28, 41, 51). */
public final class Names {

    private Names() {}

    /**
     * Returns a message as the application sees it. Takes ownership of the message, even if there is no memory for the
     * name.
     *
     * @param occupant {@link Peer#occupant()} when the message was the next
     * @return null if another peer has taken the place of the peer, which drops its messages. The message then remains
     *     owned by the caller
     */
    public static @Nullable ZMTPMessage added(SocketContext context, Peer from, int occupant, ZMTPMessage message) {
        if (!context.namesPeers()) {
            return message;
        }
        byte[] name = from.nameBytes();
        if (from.occupant() != occupant) { // second, because the name changes after the occupant
            return null;
        }
        ByteBuf frame;
        try {
            frame = context.allocator().buffer(name.length);
        } catch (Throwable e) {
            ReferenceCountUtil.safeRelease(message);
            throw e;
        }
        return message.prepend(frame.writeBytes(name));
    }

    /** Undoes {@link #added}. Takes ownership of the message. */
    public static ZMTPMessage removed(SocketContext context, ZMTPMessage named) {
        return context.namesPeers() ? named.removeFirst(1) : named;
    }
}
