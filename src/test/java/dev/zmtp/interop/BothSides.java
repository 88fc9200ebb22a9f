package dev.zmtp.interop;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.interop.InteropConnection.Binder;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import java.util.List;
import org.junit.jupiter.params.provider.Arguments;

/** Our sockets, which are tested, and those of an implementation that they talk to. */
final class BothSides implements AutoCloseable {

    /** Each implementation, with each side listening. */
    static List<Arguments> everyKindAndBinder() {
        return Every.combinationOf(SocketPeerKind.values(), Binder.values());
    }

    /** The same, with our socket in each of two roles. */
    static List<Arguments> everyKindAndBinderInBothRoles() {
        return Every.combinationOf(SocketPeerKind.values(), Binder.values(), new Boolean[] {true, false});
    }

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    private final OurPeer us;
    private final PeerContext them;

    BothSides(SocketPeerKind kind) {
        this(kind, new OurPeer());
    }

    BothSides(SocketPeerKind kind, OurPeer us) {
        this.us = us;
        this.them = kind.open();
    }

    OurPeer.Socket ours(ZMTPSocketType type) {
        return us.socket(type);
    }

    PeerSocket theirs(ZMTPSocketType type) {
        return them.socket(type);
    }

    /** A socket of ours or of theirs. */
    PeerSocket socket(boolean ours, ZMTPSocketType type) {
        return ours ? us.socket(type) : them.socket(type);
    }

    /** Connects one socket of ours with some of theirs. */
    static void join(Binder binder, PeerSocket ours, PeerSocket... theirs) {
        if (binder == Binder.WE) {
            connect(ours, theirs);
        } else {
            accept(ours, theirs);
        }
    }

    /** Connects {@code one} socket with others, where {@code binder} listens. */
    static void join(Binder binder, boolean oneIsOurs, PeerSocket one, PeerSocket... others) {
        if ((binder == Binder.WE) == oneIsOurs) {
            connect(one, others);
        } else {
            accept(one, others);
        }
    }

    private static void connect(PeerSocket to, PeerSocket... all) {
        String endpoint = to.bind(ANY_PORT);
        for (PeerSocket each : all) {
            each.connect(endpoint);
        }
    }

    private static void accept(PeerSocket connecting, PeerSocket... all) {
        for (PeerSocket each : all) {
            connecting.connect(each.bind(ANY_PORT));
        }
    }

    /** Waits until our socket has so many peers whose handshake is done. */
    static void awaitPeers(OurPeer.Socket ours, int peers) {
        ZMTPSocket socket = ours.socket();
        TestSockets.await(
                peers + " peers",
                () -> socket.peers().stream().filter(TestSockets::isUp).count() == peers);
    }

    @Override
    public void close() {
        try {
            us.close();
        } finally {
            them.close();
        }
    }
}
