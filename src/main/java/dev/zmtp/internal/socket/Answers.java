package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;

/**
 * Delivers answers to their requests. Anything else goes to the application of a DEALER, which may send and receive
 * anything (RFC 28). A REQ drops it.
 */
final class Answers extends Reception {

    private final Inbox inbox;
    private final Requests requests;
    private final boolean strict;

    Answers(SocketContext context, Inbox inbox, Requests requests) {
        this.inbox = inbox;
        this.requests = requests;
        this.strict = context.type() == ZMTPSocketType.REQ;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
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
