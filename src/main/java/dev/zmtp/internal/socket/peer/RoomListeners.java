package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.RateLimitedLog;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The listeners for room in a socket, or for a peer of it. They are added and removed from any thread. */
public final class RoomListeners {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Writability");

    /** Peers can cause failures of the application's code without bound. */
    private static final RateLimitedLog FAILURES = new RateLimitedLog(logger, InternalLogLevel.WARN, System::nanoTime);

    /** A listener that was added, which can be added several times. */
    public static final class Added {
        private final Runnable listener;

        Added(Runnable listener) {
            this.listener = listener;
        }
    }

    private final List<Added> listeners = new CopyOnWriteArrayList<>();

    /** On the event loop. */
    private boolean calling;

    public Added add(Runnable listener) {
        Added added = new Added(listener);
        listeners.add(added);
        return added;
    }

    /** Does nothing if it was already removed. */
    public void remove(Added added) {
        listeners.remove(added);
    }

    public boolean contains(Added added) {
        return listeners.contains(added);
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

    public void call(Added added) {
        boolean nested = calling; // a listener can add another listener
        calling = true;
        try {
            added.listener.run();
        } catch (Throwable e) {
            FAILURES.log("A listener for room", "failed", e);
        } finally {
            calling = nested;
        }
    }
}
