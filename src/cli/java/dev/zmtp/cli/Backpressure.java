package dev.zmtp.cli;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers on the event loop of a socket, and reads nothing from a peer that does not read its answers. Answers without
 * room are kept until then. Their number is bounded, because they answer messages of a single read.
 */
final class Backpressure {

    /** Peers with unsent answers. On the event loop. */
    private final Map<ZMTPPeer, Unsent> unsent = new HashMap<>();

    private final ZMTPSocket socket;

    Backpressure(ZMTPSocket socket) {
        this.socket = socket;
        socket.onEvent(socket.eventLoop(), event -> {
            if (event instanceof ZMTPSocketEvent.PeerDown down) {
                Unsent left = unsent.remove(down.peer());
                if (left != null) {
                    left.end();
                }
            } else if (event instanceof ZMTPSocketEvent.Missed) {
                endThoseThatLeft();
            }
        });
    }

    private void endThoseThatLeft() {
        Set<ZMTPPeer> present = Set.copyOf(socket.peers());
        unsent.entrySet().removeIf(each -> {
            boolean left = !present.contains(each.getKey());
            if (left) {
                each.getValue().end();
            }
            return left;
        });
    }

    /** Takes ownership of the message. On the event loop. */
    void answer(ZMTPPeer peer, ZMTPMessage message) {
        Unsent before = unsent.get(peer);
        if (before != null) {
            before.messages.add(message);
        } else if (!peer.trySend(message)) {
            if (socket.peers().contains(peer)) {
                Unsent its = new Unsent(peer, message);
                unsent.put(peer, its);
                its.begin();
            } else {
                message.release(); // the last messages of a peer can be received after it has left
            }
        }
    }

    /** The answers for which a peer has no room. */
    private final class Unsent {
        private final Deque<ZMTPMessage> messages = new ArrayDeque<>();
        private final ZMTPPeer peer;
        private @Nullable ZMTPRegistration listening;

        Unsent(ZMTPPeer peer, ZMTPMessage first) {
            this.peer = peer;
            messages.add(first);
        }

        void begin() {
            peer.pauseReading();
            ZMTPRegistration registration = peer.onWritable(this::send); // which can send all of them at once
            if (messages.isEmpty()) {
                registration.close();
            } else {
                listening = registration;
            }
        }

        private void send() {
            while (!messages.isEmpty() && peer.trySend(messages.peek())) {
                messages.remove();
            }
            if (messages.isEmpty()) {
                unsent.remove(peer);
                end();
            }
        }

        void end() {
            if (listening != null) {
                listening.close();
            }
            messages.forEach(ZMTPMessage::release);
            messages.clear();
            peer.resumeReading();
        }
    }
}
