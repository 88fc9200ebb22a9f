package dev.zmtp.internal.read;

import dev.zmtp.ZMTPException;
import dev.zmtp.internal.runtime.CheckReturnValue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The limit of the commands that a peer may send within a second. A command is answered or passed to the application,
 * so it costs this side more than it costs the peer.
 *
 * <p>The clock is read once per {@code max} commands. A second begins with the first command after the previous second
 * was full. At most twice {@code max} commands can therefore pass within any second.
 */
public final class CommandRate {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final int max;
    private final LongSupplier nanoTime;

    private long begin;
    private int commands;

    public CommandRate(int max, LongSupplier nanoTime) {
        this.max = max;
        this.nanoTime = nanoTime;
    }

    /**
     * Counts a command.
     *
     * @throws ZMTPException if the peer has sent too many commands
     */
    public void count() {
        if (!tryCount()) {
            throw ZMTPException.tooLarge("commands within a second", max + 1L, max);
        }
    }

    /** Counts a command, or returns false if the peer has sent too many. */
    @CheckReturnValue
    public boolean tryCount() {
        if (commands == 0) {
            begin = nanoTime.getAsLong();
        } else if (commands == max) {
            long now = nanoTime.getAsLong();
            if (now - begin < SECOND) {
                return false;
            }
            begin = now;
            commands = 0;
        }
        commands++;
        return true;
    }
}
