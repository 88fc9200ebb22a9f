package dev.zmtp.testing;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;

/**
 * A list that one thread appends to while others look. An iterator or a stream sees what was there when it was made. To
 * append costs the same however long the list is, other than with {@code CopyOnWriteArrayList}.
 */
final class AppendedList<E> extends AbstractList<E> {

    private final List<E> elements = new ArrayList<>();

    private synchronized List<E> snapshot() {
        return new ArrayList<>(elements);
    }

    @Override
    public synchronized boolean add(E element) {
        return elements.add(element);
    }

    @Override
    public synchronized E get(int index) {
        return elements.get(index);
    }

    @Override
    public synchronized E remove(int index) {
        return elements.remove(index);
    }

    @Override
    public synchronized void clear() {
        elements.clear();
    }

    @Override
    public synchronized int size() {
        return elements.size();
    }

    @Override
    public Iterator<E> iterator() {
        return snapshot().iterator();
    }

    @Override
    public Spliterator<E> spliterator() {
        return snapshot().spliterator();
    }

    @Override
    public Object[] toArray() {
        return snapshot().toArray();
    }
}
