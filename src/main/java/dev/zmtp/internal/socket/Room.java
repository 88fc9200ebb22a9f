package dev.zmtp.internal.socket;

import dev.zmtp.socket.ZMTPRegistration;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The listeners that wait for room. They are called on the event loop, after a message was refused. */
public final class Room {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(Room.class);

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean missed;

    /** Adds a listener, which is called when there may be room again. */
    public ZMTPRegistration listen(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }

    /** Called from any thread when a message was refused: the listeners are called when there is room. */
    void missing() {
        if (!missed) {
            missed = true;
        }
    }

    /** Called when there may be room. */
    void opened() {
        if (missed && !listeners.isEmpty()) {
            callListeners();
        }
    }

    /** Called when there will be no room any more: the listeners find the socket closed. */
    void closed() {
        callListeners();
    }

    private void callListeners() {
        missed = false;
        for (Runnable listener : listeners) {
            try {
                listener.run();
            } catch (Throwable e) {
                logger.warn("A listener for room failed", e);
            }
        }
    }
}
