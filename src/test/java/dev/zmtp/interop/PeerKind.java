package dev.zmtp.interop;

/** The implementations that every interop test runs against. */
public enum PeerKind {
    /** The C++ implementation that most others bind to, from the system. */
    LIBZMQ {
        @Override
        public PeerContext open() {
            return new LibZmqPeer(LibZmqFinder.require());
        }
    },
    /** The Java implementation, from its jar. */
    JEROMQ {
        @Override
        public PeerContext open() {
            return new JeroMqPeer();
        }
    };

    /** Starts it, or aborts the test if it is not there. */
    public abstract PeerContext open();
}
