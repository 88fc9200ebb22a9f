package dev.zmtp.interop;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;

/** Another implementation of ZeroMQ, running in this process. Its sockets are for the test's thread alone. */
public interface Peer extends AutoCloseable {

    /** The newest version of ZMTP that it speaks. */
    ZMTPVersion version();

    /** Returns a new socket that neither listens nor is connected yet. */
    PeerSocket socket(ZMTPSocketType type);

    /** Closes all sockets at once, whatever they have still to send, and ends the threads behind them. */
    @Override
    void close();
}
