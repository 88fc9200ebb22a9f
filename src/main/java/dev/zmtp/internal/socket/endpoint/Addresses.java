package dev.zmtp.internal.socket.endpoint;

import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of an endpoint that an attempt still has to try. One that has failed comes after the others the next
 * time: an address that is dead must not cost each attempt its time.
 */
final class Addresses {

    private final Queue<SocketAddress> left = new ArrayDeque<>(1);

    /** Those that have failed since they last worked, the last one last. */
    private final Set<SocketAddress> failed = new LinkedHashSet<>(0);

    private @Nullable SocketAddress current;

    /** Begins with what was found, the best first. */
    void begin(List<? extends SocketAddress> found) {
        failed.retainAll(Set.copyOf(found));
        left.clear();
        found.stream().filter(address -> !failed.contains(address)).forEach(left::add);
        left.addAll(failed);
    }

    /** Returns the next one; null if all were tried. */
    @Nullable
    SocketAddress next() {
        current = left.poll();
        return current;
    }

    boolean hasNext() {
        return !left.isEmpty();
    }

    /** The one that is tried has not worked. */
    void failed() {
        if (current != null) {
            failed.remove(current); // to come last
            failed.add(current);
        }
    }

    /** The one that was tried works. */
    void worked() {
        failed.remove(current);
        left.clear();
    }

    void clear() {
        left.clear();
    }
}
