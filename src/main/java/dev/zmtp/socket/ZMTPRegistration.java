package dev.zmtp.socket;

/** Registration of a handler, a listener or a subscription of a {@link ZMTPSocket}, which lasts until it is closed. */
public interface ZMTPRegistration extends AutoCloseable {

    /** Ends the registration. Can be called from any thread. A second call does nothing. */
    @Override
    void close();
}
