package dev.zmtp.internal.runtime;

import java.io.Serial;
import java.util.ArrayDeque;
import java.util.Objects;

/**
 * A deque that is as before if there is no memory to add an element. An {@code ArrayDeque} stores the element before it
 * grows. If it cannot grow, it seems to be empty, while {@code poll} still returns its elements, and the next element
 * replaces the oldest.
 */
public final class ConsistentDeque<E> extends ArrayDeque<E> {

    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an empty deque without room. */
    public ConsistentDeque() {
        super(0);
    }

    @Override
    public void addLast(E element) {
        Objects.requireNonNull(element, "element");
        try {
            super.addLast(element);
        } catch (OutOfMemoryError | IllegalStateException e) { // after the element was stored
            pollLast();
            throw e;
        }
    }

    @Override
    public void addFirst(E element) {
        Objects.requireNonNull(element, "element");
        try {
            super.addFirst(element);
        } catch (OutOfMemoryError | IllegalStateException e) {
            pollFirst();
            throw e;
        }
    }
}
