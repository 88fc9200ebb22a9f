package dev.zmtp.internal.runtime;

import java.util.function.IntConsumer;

/** A connection that counts the messages which its transport has taken. */
public interface WrittenMessages {

    /**
     * Sets the listener, which is called on the event loop with the number of messages that the transport has just
     * taken, before their promises complete. It must neither write nor close: the connection is in the middle of a
     * write.
     */
    void onWritten(IntConsumer listener);
}
