package dev.zmtp.codec;

import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of connections that were ended for the memory budget. New connections with such an address begin their
 * handshake when its pause is over: a peer that is cut off usually returns at once and sends the same again. Thread
 * safe.
 */
final class PausedAddresses {

    /** So long that the peers of an address cannot keep us busy, and so short that others there are served soon. */
    static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

    private static final int MAX_ADDRESSES = 1_024;

    /** When the pause of each address ends, by {@link System#nanoTime}. The first one ends first. */
    private final Map<String, Long> ends = new LinkedHashMap<>();

    /** A connection with this address was ended: its pause begins, once more if it has one. */
    synchronized void add(@Nullable SocketAddress peer, long now) {
        String address = AddressKey.of(peer);
        if (address.equals(AddressKey.NONE)) {
            return; // it may be anybody's
        }
        ends.remove(address);
        ends.put(address, now + PAUSE);
        if (ends.size() > MAX_ADDRESSES) {
            ends.remove(ends.keySet().iterator().next());
        }
    }

    /** Returns how many nanoseconds of the pause of this address are left; 0 if it has none. */
    synchronized long left(@Nullable SocketAddress peer, long now) {
        String address = AddressKey.of(peer);
        Long end = ends.get(address);
        if (end == null) {
            return 0;
        }
        long left = end - now;
        if (left <= 0) {
            ends.remove(address);
        }
        return Math.max(left, 0);
    }

    /** The number of addresses that are kept. */
    synchronized int size() {
        return ends.size();
    }
}
