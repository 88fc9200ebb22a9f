package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import io.netty.util.ReferenceCountUtil;

/** The future of a single message, which follows the name of its peer if the type of the socket uses names. */
public final class Received extends AwaitedMessage<ZMTPMessage> {

    public Received(SocketContext context, Inbox inbox) {
        super(context, inbox);
    }

    @Override
    public boolean take(Peer from, int occupant, ZMTPMessage message) {
        message.retain(); // the original remains unchanged if this receive was cancelled
        ZMTPMessage presented;
        try {
            presented = Names.added(context, from, occupant, message);
        } catch (Throwable e) { // there is no memory for the name, and nobody else has this future
            ReferenceCountUtil.safeRelease(message);
            failed(e);
            return true;
        }
        if (presented == null) {
            ReferenceCountUtil.safeRelease(message);
            inbox.queues.discard(from, message);
            inbox.take(this); // for the next message
            return true;
        }
        boolean taken = received(presented);
        ReferenceCountUtil.safeRelease(taken ? message : presented);
        return taken;
    }
}
