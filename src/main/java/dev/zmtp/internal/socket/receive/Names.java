package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;

/** The name of a peer as the first frame of a message, where the type of the socket has it (RFC 28, 41, 51). */
public final class Names {

    private Names() {}

    /** Returns what the application sees of a message. Takes it over. */
    public static ZMTPMessage added(SocketContext context, Peer from, ZMTPMessage message) {
        if (!context.namesPeers()) {
            return message;
        }
        byte[] name = from.nameBytes();
        return message.prepended(context.allocator().buffer(name.length).writeBytes(name));
    }

    /** Undoes {@link #added}. Takes the message over. */
    public static ZMTPMessage removed(SocketContext context, ZMTPMessage named) {
        return context.namesPeers() ? named.withoutFirst(1) : named;
    }
}
