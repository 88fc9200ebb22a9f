package dev.zmtp.internal.socket.request;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.receive.Inbox;
import dev.zmtp.internal.socket.receive.Reception;

/**
 * Delivers answers to their requests. Anything else goes to the application of a DEALER, which may send and receive
 * anything (RFC 28). A REQ drops it.
 */
public final class Answers extends Reception {

    private final Inbox inbox;
    private final Requests requests;
    private final boolean strict;

    public Answers(SocketContext context, Inbox inbox, Requests requests) {
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
        } else if (message.size() > 1 && !message.frame(0).isReadable()) {
            requests.answeredUncorrelated(from, message);
        } else {
            malformed(from, message);
            requests.malformed(from);
        }
    }
}
