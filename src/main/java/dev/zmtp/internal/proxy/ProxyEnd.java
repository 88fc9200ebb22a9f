package dev.zmtp.internal.proxy;

import dev.zmtp.internal.socket.SocketCore;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.publish.Subscribers;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.send.Senders;

/**
 * The parts of a socket that a proxy uses.
 *
 * @param senders sends the messages of the other socket
 * @param inbox has the messages for the other socket
 * @param subscribers the subscriptions to relay, if the socket is a publisher
 */
public record ProxyEnd(SocketContext context, Senders senders, Inbox inbox, Subscribers subscribers) {

    /** Returns the parts of this socket. */
    public static ProxyEnd of(SocketCore core) {
        return new ProxyEnd(core.context(), core.senders(), core.inbox(), core.subscribers());
    }
}
