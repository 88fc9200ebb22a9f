package dev.zmtp.internal.socket.context;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Elements that have an amount each, by its power of two. One that has about the most, or few, is found in the same
 * time however many there are, so that looking for it is no work that peers could cause. The caller knows the amounts.
 */
public final class Magnitudes<T> {

    private final List<Set<T>> sets = new ArrayList<>();

    /** A bit for each set that is not empty. */
    private long present;

    /** Returns the power of two that is not greater than the amount, as an exponent. */
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

    /** Removes an element that has this amount. Returns false if it is not there. */
    public boolean remove(T element, long amount) {
        int magnitude = of(amount);
        boolean was = magnitude < sets.size() && sets.get(magnitude).remove(element);
        if (was && sets.get(magnitude).isEmpty()) {
            present &= ~(1L << magnitude);
        }
        return was;
    }

    /** Returns the element that has been there longest of those with the greatest magnitude; null if there is none. */
    public @Nullable T greatest() {
        return present == 0 ? null : sets.get(of(present)).iterator().next();
    }

    /** Removes one of the elements with the least magnitude, if all of these have less than {@code amount}. */
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
