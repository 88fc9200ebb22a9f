package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;
import java.util.Collection;

/**
 * Delivers answers to their requests. All other messages are delivered to the application of a DEALER, which can send
 * and receive anything (RFC 28). A REQ drops them.
 * <p>If a DEALER makes requests without receiving, unexpected messages must not keep later answers from being read.
 * Therefore the oldest of these messages are dropped.
 */
public final class Answers extends Reception {

    private final SocketContext context;
    private final Inbox inbox;
    private final Requests requests;
    private final boolean strict;

    /** True if the application has ever made a request. */
    private boolean asks;

    public Answers(SocketContext context, Inbox inbox, Requests requests) {
        this.context = context;
        this.inbox = inbox;
        this.requests = requests;
        this.strict = context.type() == ZMTPSocketType.REQ;
    }

    @Override
    public void received(Peer from, ZMTPMessage message) {
        if (requests.answered(from, message)) {
            return;
        }
        if (!strict) {
            inbox.deliver(from, message);
            makeRoom(context, inbox, from, asks);
        } else if (message.size() > 1 && !message.frame(0).isReadable()) {
            requests.answeredUncorrelated(from, message);
        } else {
            malformed(from, message);
            requests.malformed(from);
        }
    }

    @Override
    public void asks(Collection<Peer> there) {
        asks = true;
        there.forEach(peer -> makeRoom(context, inbox, peer, true));
    }
}
