package dev.zmtp.internal.socket;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayDeque;
import java.util.Deque;

/** The messages of one peer that were not taken yet. Guarded by the lock of the {@link Inbox}, except for the flags. */
final class Inbound {

    final Deque<ZMTPMessage> messages = new ArrayDeque<>(0);
    long bytes;

    /** Changed under the lock, read on the event loop. */
    volatile boolean full;

    /** Used on the event loop. */
    boolean pausedByUser;
}
