package dev.zmtp.interop;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;

/** An implementation of ZeroMQ, running in this process. Its sockets are for the test's thread alone. */
public interface PeerContext extends AutoCloseable {

    /** The newest version of ZMTP that it speaks. */
    ZMTPVersion version();

    /** Returns a new socket that neither listens nor is connected yet. */
    PeerSocket socket(ZMTPSocketType type);

    /** Starts a ZAP handler for all sockets of this peer, in which {@code decider} decides. */
    void zapHandler(ZapDecider decider);

    /**
     * Passes on ZAP requests from a free port of the loopback interface, which is returned, to the ZAP handler of this
     * peer, and its replies back: handlers are reachable only from inside their process.
     */
    int zapProxy();

    /**
     * Passes on requests with its own proxy of a ROUTER and a DEALER, from a free port of the loopback interface, which
     * is returned, to {@code endpoint}, and the replies back.
     */
    default int proxy(String endpoint) {
        throw new UnsupportedOperationException("proxy: only libzmq's and JeroMQ's");
    }

    /** Closes all sockets at once, dropping what they have not sent yet, and ends their threads. */
    @Override
    void close();
}
