package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;

/**
 * Delivers answers to their requests. Anything else goes to the application of a DEALER, which may send and receive
 * anything (RFC 28). A REQ drops it.
 */
final class Answers extends Reception {

    private final SocketCore core;
    private final boolean strict;

    Answers(SocketCore core) {
        this.core = core;
        this.strict = core.type() == ZMTPSocketType.REQ;
    }

    @Override
    void received(Peer from, ZMTPMessage message) {
        if (core.requests().answered(from, message)) {
            return;
        }
        if (!strict) {
            core.inbox().deliver(from, message);
        } else if (message.size() > 1 && !message.frame(0).isReadable()) {
            core.requests().answeredUncorrelated(from, message);
        } else {
            malformed(from, message);
            core.requests().malformed(from);
        }
    }
}
