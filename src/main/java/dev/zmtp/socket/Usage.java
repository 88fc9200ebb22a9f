package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import java.util.Objects;

/** What the application may call, and with which messages: it depends on the type of the socket. */
final class Usage {

    private final SocketCore core;

    Usage(SocketCore core) {
        this.core = core;
    }

    /** Checks that the method may be called. */
    void require(boolean holds, String method, String expected) {
        if (!holds) {
            throw new UnsupportedOperationException(
                    method + ": not with " + core.type() + " (expected: " + expected + ")");
        }
    }

    void checkSend(ZMTPMessage message) {
        ZMTPSocketType type = core.type();
        require(Patterns.sends(type), "send", "a type that sends");
        int most = Patterns.maxFrames(type);
        checkFrames(message, Patterns.namesPeers(type) && most == 1 ? 2 : most);
        if (type == ZMTPSocketType.RADIO) {
            if (message.size() != 2) {
                throw new IllegalArgumentException("frames: " + message.size() + " (expected: a group and a body)");
            }
            Groups.check(message.frame(0));
        }
    }

    void checkSendTo(String method, ZMTPPeer peer, ZMTPMessage message) {
        ZMTPSocketType type = core.type();
        require(Patterns.namesPeers(type) || type.isPublisher(), method, "ROUTER, SERVER, PEER, PUB or XPUB");
        checkFrames(message, Patterns.maxFrames(type));
        if (!peer.isOf(core)) {
            throw new IllegalArgumentException(
                    "peer: " + peer + " of another socket (expected: one of this " + type + ")");
        }
    }

    static void checkFrames(ZMTPMessage message, int most) {
        int frames = Objects.requireNonNull(message, "message").size();
        if (frames < 1 || frames > most) {
            throw new IllegalArgumentException(
                    "frames: " + frames + " (expected: " + (most == 1 ? "1" : "from 1 to " + most) + ")");
        }
    }
}
