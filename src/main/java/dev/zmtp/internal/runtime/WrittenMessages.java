package dev.zmtp.internal.runtime;

import java.util.function.IntConsumer;

/** A connection that counts the messages that its transport has accepted. */
public interface WrittenMessages {

    /**
     * Sets the listener, which is called on the event loop with the number of messages that the transport has just
     * accepted, before their promises complete. The listener must neither write nor close, because the connection is in
     * the middle of a write.
     */
    void onWritten(IntConsumer listener);
}
