package dev.zmtp.internal.socket;

import static dev.zmtp.internal.socket.PeerCounters.Counter.MALFORMED;

import dev.zmtp.ZMTPMessage;

/** A rule for the messages that peers have sent. Each socket has one, which is used on its event loop. */
abstract class Reception {

    /** Takes the message over. */
    abstract void received(Peer from, ZMTPMessage message);

    /** Drops what the pattern does not allow. */
    static void malformed(Peer from, ZMTPMessage message) {
        from.counters().add(MALFORMED, 1);
        message.release();
    }
}
