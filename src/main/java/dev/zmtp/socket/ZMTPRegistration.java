package dev.zmtp.socket;

/** A handler, a listener or a subscription of a {@link ZMTPSocket}, which lasts until it is closed. */
public interface ZMTPRegistration extends AutoCloseable {

    /** Ends it. From any thread. A second call does nothing. */
    @Override
    void close();
}
