package dev.zmtp.internal.socket.context;

import java.util.concurrent.TimeUnit;

/**
 * A look at a condition that becomes true without notice, such as that others have freed memory. It is repeated in a
 * moment, for as long as it finds the condition false and asks for another look. Used on the event loop.
 */
public final class LaterLook {

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(100);

    private final SocketContext context;
    private final Runnable look;
    private boolean isScheduled;

    public LaterLook(SocketContext context, Runnable look) {
        this.context = context;
        this.look = look;
    }

    /** Looks again in a moment, once for all calls until then. Nothing happens if the event loop is ending. */
    public void schedule() {
        if (!isScheduled) {
            isScheduled = context.schedule(this::run, MOMENT) != null;
        }
    }

    private void run() {
        isScheduled = false;
        look.run();
    }
}
