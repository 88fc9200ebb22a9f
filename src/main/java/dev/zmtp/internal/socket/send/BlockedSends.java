package dev.zmtp.internal.socket.send;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Accepted messages that wait until all peers that should get them have room. On the event loop. */
final class BlockedSends {

    private final Deque<Sent.ToAny> messages = new ArrayDeque<>(0);

    /** Routes a message. Returns false if it still has to wait. */
    private final Predicate<Sent.ToAny> route;

    BlockedSends(Predicate<Sent.ToAny> route) {
        this.route = route;
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    int size() {
        return messages.size();
    }

    /** Routes a message after those that wait, or keeps it. */
    void add(Sent.ToAny message) {
        if (!messages.isEmpty() || !route.test(message)) {
            messages.add(message);
        }
    }

    /** Returns the messages that wait now. */
    List<Sent.ToAny> list() {
        return List.copyOf(messages);
    }

    /** Routes up to this many messages. Returns how many more could be routed, or -1 if the next still has to wait. */
    int serve(int most) {
        int left = most;
        while (left > 0) {
            Sent.ToAny next = messages.poll();
            if (next == null) {
                break;
            }
            if (!route.test(next)) {
                messages.addFirst(next);
                return -1;
            }
            left--;
        }
        return left;
    }

    Sent.@Nullable ToAny poll() {
        return messages.poll();
    }
}
