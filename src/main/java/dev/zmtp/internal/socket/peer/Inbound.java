package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayDeque;
import java.util.Deque;

/** The messages of one peer that were not taken yet. Guarded by the lock of the {@code Inbox}, except for the flags. */
public final class Inbound {

    public final Deque<ZMTPMessage> messages = new ArrayDeque<>(0);
    public long bytes;

    /** Changed under the lock, read on the event loop. */
    public volatile boolean full;

    /** Whether its messages get no turn. Only {@code Line} uses it: changed under the lock, read on the event loop. */
    public volatile boolean aside;

    /** The number of its requests that a handler has. Only {@code Serving} uses it, on the event loop. */
    public int served;

    /** Used on the event loop. */
    boolean pausedByUser;
}
