package dev.zmtp.internal.memory;

import dev.zmtp.internal.runtime.AddressKey;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of connections that were ended for the memory budget. New connections with such an address are read
 * when its pause is over: a peer that is cut off usually returns at once and sends the same again. Thread safe.
 */
final class PausedAddresses {

    /** So long that the peers of an address cannot keep us busy, and so short that others there are served soon. */
    static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

    /** The pause of an address that exceeds the budget soon after each pause. */
    static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(8);

    private static final int MAX_ADDRESSES = 1_024;

    /**
     * Pauses by address, oldest first. An expired pause is remembered for its own length again, so that a repeat
     * doubles it.
     */
    private final Map<String, Pause> pauses = new LinkedHashMap<>();

    /** A pause, and when it ends, by {@link System#nanoTime}. */
    private record Pause(long length, long end) {

        boolean isOver(long now) {
            return end - now <= 0;
        }

        boolean isForgotten(long now) {
            return end + length - now <= 0;
        }

        /** The pause after this one. */
        Pause next(long now) {
            long next = isForgotten(now) ? PAUSE : isOver(now) ? Math.min(MAX_PAUSE, 2 * length) : length;
            return new Pause(next, now + next);
        }
    }

    /**
     * A connection with this address was ended: its pause begins, once more if it has one. It is twice as long as one
     * that has ended just before.
     */
    synchronized void add(@Nullable SocketAddress peer, long now) {
        String address = AddressKey.of(peer);
        if (address.equals(AddressKey.NONE)) {
            return; // it may be anybody's
        }
        Pause last = pauses.remove(address);
        pauses.put(address, last == null ? new Pause(PAUSE, now + PAUSE) : last.next(now));
        if (pauses.size() > MAX_ADDRESSES) {
            pauses.remove(pauses.keySet().iterator().next());
        }
    }

    /** Returns how many nanoseconds of the pause of this address are left; 0 if it has none. */
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

    /** The number of addresses that are kept. */
    synchronized int size() {
        return pauses.size();
    }
}
