package dev.zmtp.internal.runtime;

/**
 * Event from a handler before the codec that reads the bytes of another protocol. The codec does not pass it on.
 */
public sealed interface InputEvent {

    /** The peer has sent bytes that are retained until more arrive, so it is alive although the codec reads nothing. */
    enum Activity implements InputEvent {
        BYTES
    }

    /**
     * The peer's input has ended with a failure. The codec reports it after the data that was read before it.
     *
     * @param cause the reason for the end of the connection
     */
    record Failure(Throwable cause) implements InputEvent {}
}
