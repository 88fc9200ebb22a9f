package dev.zmtp.internal.socket.send;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Those who want to hear that a socket has room. They are added and removed from any thread. */
final class RoomListeners {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Writability");

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** On the event loop. */
    private boolean calling;

    void add(Runnable listener) {
        listeners.add(listener);
    }

    void remove(Runnable listener) {
        listeners.remove(listener);
    }

    boolean contains(Runnable listener) {
        return listeners.contains(listener);
    }

    boolean isEmpty() {
        return listeners.isEmpty();
    }

    // On the event loop

    /** Whether this is inside of a call: one of them sends, and that has made room. */
    boolean areCalled() {
        return calling;
    }

    void callAll() {
        listeners.forEach(this::call);
    }

    void call(Runnable listener) {
        boolean nested = calling; // one may add another
        calling = true;
        try {
            listener.run();
        } catch (Throwable e) {
            logger.warn("A listener for room failed", e);
        } finally {
            calling = nested;
        }
    }
}
