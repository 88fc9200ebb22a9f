package dev.zmtp.internal.memory;

import dev.zmtp.internal.runtime.AddressKey;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of connections that were closed for the memory budget. New connections from such an address are not
 * read until its pause is over, because a disconnected peer usually returns immediately and sends the same data again.
 * Thread safe.
 */
final class PausedAddresses {

    /**
     * Long enough that the peers of an address cannot keep this side busy, and short enough that other peers there are
     * served soon.
     */
    static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

    /** The pause of an address that exceeds the budget soon after each pause. */
    static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(8);

    private static final int MAX_ADDRESSES = 1_024;

    /**
     * Pauses by address, oldest first. An expired pause is kept for its own length again, so that a repeat doubles it.
     */
    private final Map<String, Pause> pauses = new LinkedHashMap<>();

    /** A pause and its end, by {@link System#nanoTime}. */
    private record Pause(long length, long end) {

        boolean isOver(long now) {
            return end - now <= 0;
        }

        boolean isForgotten(long now) {
            return end + length - now <= 0;
        }

        /** Returns the pause after this one. */
        Pause next(long now) {
            long next = isForgotten(now) ? PAUSE : isOver(now) ? Math.min(MAX_PAUSE, 2 * length) : length;
            return new Pause(next, now + next);
        }
    }

    /**
     * Starts the pause of this address, because a connection from it was closed. A pause in progress starts again. The
     * pause is twice as long if the previous pause has just ended.
     */
    synchronized void add(@Nullable SocketAddress peer, long now) {
        String address = AddressKey.of(peer);
        if (address.equals(AddressKey.NONE)) {
            return; // the address could be any peer's
        }
        Pause last = pauses.remove(address);
        pauses.put(address, last == null ? new Pause(PAUSE, now + PAUSE) : last.next(now));
        if (pauses.size() > MAX_ADDRESSES) {
            pauses.remove(pauses.keySet().iterator().next());
        }
    }

    /** Returns the remaining pause of this address, in nanoseconds; 0 if it has none. */
    synchronized long left(@Nullable SocketAddress peer, long now) {
        String address = AddressKey.of(peer);
        Pause pause = pauses.get(address);
        if (pause == null) {
            return 0;
        }
        if (pause.isForgotten(now)) {
            pauses.remove(address);
        }
        return Math.max(pause.end - now, 0);
    }

    /** Returns the number of addresses in this map. */
    synchronized int size() {
        return pauses.size();
    }
}
