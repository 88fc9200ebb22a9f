package dev.zmtp.internal.socket.peer;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Those who want to hear that a socket, or one of its peers, has room. They are added and removed from any thread. */
public final class RoomListeners {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Writability");

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** On the event loop. */
    private boolean calling;

    public void add(Runnable listener) {
        listeners.add(listener);
    }

    public void remove(Runnable listener) {
        listeners.remove(listener);
    }

    public boolean contains(Runnable listener) {
        return listeners.contains(listener);
    }

    public boolean isEmpty() {
        return listeners.isEmpty();
    }

    // On the event loop

    /** Whether this is inside of a call: one of them sends, and that has made room. */
    public boolean areCalled() {
        return calling;
    }

    public void callAll() {
        listeners.forEach(this::call);
    }

    public void call(Runnable listener) {
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
