package dev.zmtp.internal.socket.publish;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;
import io.netty.util.ReferenceCountUtil;

/**
 * Delivers messages that the application has subscribed to, or messages of groups that it has joined, because peers can
 * send other messages as well (RFC 29, 48).
 */
public final class Filtered extends Reception {

    private final Inbox inbox;
    private final Subscriptions subscriptions;
    private final int minFrames;
    private final int maxFrames;

    public Filtered(SocketContext context, Inbox inbox, Subscriptions subscriptions) {
        boolean groups = context.type() == ZMTPSocketType.DISH;
        this.inbox = inbox;
        this.subscriptions = subscriptions;
        this.minFrames = groups ? 2 : 1;
        this.maxFrames = groups ? 2 : Integer.MAX_VALUE;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        if (message.size() < minFrames || message.size() > maxFrames) {
            malformed(from, message);
        } else if (subscriptions.match(message.frame(0))) {
            inbox.deliver(from, message);
        } else {
            ReferenceCountUtil.safeRelease(message);
        }
    }
}
