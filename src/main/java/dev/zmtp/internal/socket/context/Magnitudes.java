package dev.zmtp.internal.socket.context;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Elements grouped by the power of two of their amounts. An element with about the greatest amount, or with a small
 * amount, is found in constant time for any number of elements, so that peers cannot make the search expensive. The
 * caller keeps the amounts.
 */
public final class Magnitudes<T> {

    private final List<Set<T>> sets = new ArrayList<>();

    /** Bit set of the sets that are not empty. */
    private long present;

    /** Returns the exponent of the greatest power of two that is not greater than the amount. */
    public static int of(long amount) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, amount));
    }

    public void add(T element, long amount) {
        int magnitude = of(amount);
        while (sets.size() <= magnitude) {
            sets.add(new LinkedHashSet<>(0));
        }
        sets.get(magnitude).add(element);
        present |= 1L << magnitude;
    }

    /** Removes an element that has this amount. Returns false if the element is not present. */
    public boolean remove(T element, long amount) {
        int magnitude = of(amount);
        boolean was = magnitude < sets.size() && sets.get(magnitude).remove(element);
        if (was && sets.get(magnitude).isEmpty()) {
            present &= ~(1L << magnitude);
        }
        return was;
    }

    /** Returns the element with the greatest magnitude that was added first; null if there are no elements. */
    public @Nullable T greatest() {
        return present == 0 ? null : sets.get(of(present)).iterator().next();
    }

    /** Removes an element with the least magnitude, if all elements of that magnitude have less than {@code amount}. */
    public @Nullable T pollLess(long amount) {
        int least = Long.numberOfTrailingZeros(present);
        if (present == 0 || least + 1 > of(amount)) {
            return null;
        }
        Iterator<T> first = sets.get(least).iterator();
        T polled = first.next();
        first.remove();
        if (!first.hasNext()) {
            present &= ~(1L << least);
        }
        return polled;
    }
}
