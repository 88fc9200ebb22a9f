package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import java.util.concurrent.atomic.AtomicReference;

/** Answers on the event loop, and reads nothing from a peer that does not read its answers. */
final class Backpressure {

    private Backpressure() {}

    static void answer(ZMTPPeer peer, ZMTPMessage message) {
        peer.sendOrDrop(message);
        if (!peer.isWritable()) {
            peer.pauseReading();
            AtomicReference<ZMTPRegistration> listening = new AtomicReference<>();
            listening.set(peer.onWritable(() -> {
                peer.resumeReading();
                ZMTPRegistration registration = listening.get();
                if (registration != null) {
                    registration.close();
                }
            }));
        }
    }
}
