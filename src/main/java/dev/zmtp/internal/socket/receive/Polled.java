package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPReceived;
import dev.zmtp.socket.ZMTPSocketException;
import org.jspecify.annotations.Nullable;

/** Takes the first waiting message, if there is one. It is used once, by a single thread. */
public final class Polled implements Taker {

    private @Nullable ZMTPReceived received;
    private @Nullable ZMTPSocketException failure;

    private Polled() {}

    /**
     * Returns the message that is received next, as on the wire; null if none is waiting.
     *
     * @throws ZMTPSocketException if messages cannot be taken
     */
    public static @Nullable ZMTPReceived poll(Inbox inbox) {
        Polled polled = new Polled();
        inbox.take(polled);
        if (polled.failure != null) {
            throw polled.failure;
        }
        return polled.received;
    }

    @Override
    public boolean waits() {
        return false;
    }

    @Override
    public boolean take(Peer from, ZMTPMessage message) {
        received = new ZMTPReceived(from, message);
        return true;
    }

    @Override
    public void fail(ZMTPSocketException cause) {
        failure = cause;
    }
}
