package dev.zmtp.internal.socket.peer;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The listeners for room in a socket, or for a peer of it. They are added and removed from any thread. */
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

    /** Returns whether a listener is being called. If so, the listener has sent a message, and that has made room. */
    public boolean areCalled() {
        return calling;
    }

    public void callAll() {
        listeners.forEach(this::call);
    }

    public void call(Runnable listener) {
        boolean nested = calling; // a listener can add another listener
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
