package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.LoopBudget;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The pauses of a channel that reads without input or output of its event loop, so that the loop reads from its other
 * channels. A pause is due after {@link LoopBudget#MESSAGES} messages, but not soon after the last pause, because the
 * other end runs out of room meanwhile, and its thread might fall asleep. On the event loop.
 */
final class ReadPauses {

    /** Minimum time between two pauses. */
    static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final LongSupplier nanoTime;
    private int messages;
    private long lastPause;

    ReadPauses() {
        this(System::nanoTime);
    }

    ReadPauses(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.lastPause = nanoTime.getAsLong();
    }

    void messagesRead(int count) {
        messages += count;
    }

    boolean isDue() {
        return messages >= LoopBudget.MESSAGES && nanoTime.getAsLong() - lastPause >= INTERVAL_NANOS;
    }

    void paused() {
        messages = 0;
        lastPause = nanoTime.getAsLong();
    }
}
