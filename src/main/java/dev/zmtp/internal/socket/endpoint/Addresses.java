package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.runtime.ConsistentDeque;
import java.net.SocketAddress;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The addresses of an endpoint that an attempt still has to try. An address that has failed comes after the others in
 * the next attempt, because a dead address must not delay every attempt.
 */
final class Addresses {

    private final Queue<SocketAddress> left = new ConsistentDeque<>();

    /** Addresses that have failed since they last worked, the most recent failure last. */
    private final Set<SocketAddress> failed = new LinkedHashSet<>(0);

    private @Nullable SocketAddress current;

    /** Begins with the resolved addresses, the best first. */
    void begin(List<? extends SocketAddress> found) {
        failed.retainAll(Set.copyOf(found));
        left.clear();
        found.stream().filter(address -> !failed.contains(address)).forEach(left::add);
        left.addAll(failed);
    }

    /** Returns the next address; null if all were tried. */
    @Nullable
    SocketAddress next() {
        current = left.poll();
        return current;
    }

    boolean hasNext() {
        return !left.isEmpty();
    }

    /** Called when the current address has not worked. */
    void failed() {
        if (current != null) {
            failed.remove(current); // to come last
            failed.add(current);
        }
    }

    /** Called when the current address works. */
    void worked() {
        failed.remove(current);
        left.clear();
    }

    void clear() {
        left.clear();
    }
}
