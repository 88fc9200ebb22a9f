package dev.zmtp.interop;

import java.time.Duration;

/** What the tests of our sockets run against: our own sockets, and the other implementations. */
public enum SocketPeerKind {
    /** Our own sockets, on event loops of their own. */
    OURS {
        @Override
        public PeerContext open() {
            return new OurPeer();
        }
    },
    /** The C++ implementation. */
    LIBZMQ {
        @Override
        public PeerContext open() {
            return PeerKind.LIBZMQ.open();
        }
    },
    /** The Java implementation, whose sockets connect again soon if nothing came of the first connection. */
    JEROMQ {
        @Override
        public PeerContext open() {
            return new JeroMqPeer(Duration.ofSeconds(1));
        }
    };

    /** Starts it, or aborts the test if it is not there. */
    public abstract PeerContext open();
}
