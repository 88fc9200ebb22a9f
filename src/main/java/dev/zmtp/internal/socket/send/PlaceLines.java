package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.send.WaitingThread.State;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads that wait for a place in the queue of one peer, a line for each, the first one first. */
final class PlaceLines {

    private static final class Places {
        final Deque<WaitingThread> threads = new ArrayDeque<>();

        /** The queue was full, and a good part of it has not become free since. */
        boolean holds;
    }

    private final SocketContext context;

    /** How many threads wait, those included that are on their way to the event loop. */
    private final AtomicInteger size = new AtomicInteger();

    /** Changed on the event loop. */
    private final Map<Peer, Places> lines = new ConcurrentHashMap<>();

    PlaceLines(SocketContext context) {
        this.context = context;
    }

    /** Reserves a place for a thread, unless others wait for one. From any thread. */
    boolean reserve(Peer peer) {
        if (lines.containsKey(peer)) {
            return false;
        }
        boolean reserved = peer.queue().reserve();
        if (!reserved) {
            refused(peer);
        }
        return reserved;
    }

    /** Called when a place was not taken that may have been reserved for a moment, in which others found none. */
    void refused(Peer peer) {
        if (lines.containsKey(peer) && peer.queue().hasRoom()) {
            freed(peer);
        }
    }

    /** Adds the thread to the line. Not on the event loop. */
    void join(Peer peer, WaitingThread thread) {
        size.incrementAndGet();
        if (!context.tryExecute(() -> joined(peer, thread))) {
            size.decrementAndGet();
            thread.end(State.CLOSED);
        }
    }

    /** The number of threads that wait for a place. From any thread. */
    int size() {
        return size.get();
    }

    /** Whether threads wait for a place. From any thread. */
    boolean areFor(Peer peer) {
        return lines.containsKey(peer);
    }

    /** Looks at the line again, as a thread has left it. From any thread. */
    void left(Peer peer) {
        context.execute(() -> {
            Places line = lines.get(peer);
            if (line != null) {
                int before = line.threads.size();
                line.threads.removeIf(thread -> !thread.waits());
                size.addAndGet(line.threads.size() - before);
                serve(peer);
                context.capacityFreed(); // as when something has left the queue
            }
        });
    }

    /** Looks at the line again, as the peer may have places, or has left. From any thread. */
    void freed(Peer peer) {
        if (!lines.containsKey(peer)) {
            return;
        }
        if (context.inEventLoop()) {
            serve(peer);
        } else {
            context.execute(() -> serve(peer));
        }
    }

    // On the event loop

    private void joined(Peer peer, WaitingThread thread) {
        if (context.isClosed()) {
            size.decrementAndGet();
            thread.end(State.CLOSED);
            return;
        }
        lines.computeIfAbsent(peer, p -> new Places()).threads.add(thread);
        serve(peer);
    }

    private void serve(Peer peer) {
        Places line = lines.get(peer);
        if (line == null) {
            return;
        }
        boolean isThere = DirectSends.isThere(peer);
        for (WaitingThread next = line.threads.peek(); next != null; next = line.threads.peek()) {
            if (!isThere) {
                next.end(State.PEER_LEFT);
            } else if (next.waits() && !served(peer, line, next)) {
                return;
            }
            line.threads.remove();
            size.decrementAndGet();
        }
        lines.remove(peer);
        peer.roomCame(); // for those who had to stay behind the line
    }

    private static boolean served(Peer peer, Places line, WaitingThread next) {
        if (line.holds && !peer.queue().hasMuchRoom()) {
            return false;
        }
        line.holds = !peer.queue().reserve();
        if (!line.holds && !next.end(State.HAS_ROOM)) {
            peer.queue().unreserve();
        }
        return !line.holds;
    }

    /** Ends all waits, as the socket is closed. */
    void close() {
        for (Places line : lines.values()) {
            line.threads.forEach(thread -> thread.end(State.CLOSED));
            size.addAndGet(-line.threads.size());
        }
        lines.clear();
    }
}
