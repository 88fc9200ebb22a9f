package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPReceived;

/** The future of a single message as on the wire, and its peer. */
public final class ReceivedFrom extends AwaitedMessage<ZMTPReceived> {

    public ReceivedFrom(SocketContext context, Inbox inbox) {
        super(context, inbox);
    }

    @Override
    public boolean take(Peer from, int occupant, ZMTPMessage message) {
        return received(new ZMTPReceived(from, message));
    }
}
