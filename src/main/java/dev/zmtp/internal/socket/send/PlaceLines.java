package dev.zmtp.internal.socket.send;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.send.WaitingThread.State;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads waiting for a place in the queue of a peer, in order of arrival for each peer. */
final class PlaceLines {

    private static final class Places {
        final Deque<WaitingThread> threads = new ConsistentDeque<>();

        /** True if the queue was full, and a good part of it has not become free since. */
        boolean holds;
    }

    private final SocketContext context;

    /** Number of waiting threads, including threads that are on their way to the event loop. */
    private final AtomicInteger size = new AtomicInteger();

    /** On the event loop. */
    private final Map<Peer, Places> lines = new HashMap<>();

    PlaceLines(SocketContext context) {
        this.context = context;
    }

    /** Reserves a place for a thread, unless others wait for a place. From any thread. */
    boolean reserve(Peer peer) {
        return !peer.queue().isAwaited() && peer.queue().reserve();
    }

    /** Gives back a reserved place that is not used. From any thread. */
    void giveBack(Peer peer) {
        peer.queue().unreserve();
        peer.roomCame(); // for another thread that has found no place in the meantime
        context.execute(context::capacityFreed); // a message to all peers might have waited for the place
    }

    /** Adds the thread to the waiting threads. Not on the event loop. */
    void join(Peer peer, WaitingThread thread) {
        size.incrementAndGet();
        try {
            if (!context.tryExecute(() -> joined(peer, thread))) {
                notJoined(thread, State.CLOSED);
            }
        } catch (OutOfMemoryError e) {
            notJoined(thread, State.NO_MEMORY);
        }
    }

    private void notJoined(WaitingThread thread, State outcome) {
        size.decrementAndGet();
        thread.end(outcome);
    }

    /** Returns the number of threads waiting for a place. From any thread. */
    int size() {
        return size.get();
    }

    /** Checks the waiting threads again, because a thread has stopped waiting. From any thread. */
    void left(Peer peer) {
        context.execute(() -> {
            Places line = lines.get(peer);
            if (line != null) {
                int before = line.threads.size();
                line.threads.removeIf(thread -> !thread.waits());
                size.addAndGet(line.threads.size() - before);
                serve(peer);
                context.capacityFreed(); // as when a message has left the queue
            }
        });
    }

    /** Checks the waiting threads again, because the peer might have places, or has left. From any thread. */
    void freed(Peer peer) {
        if (!peer.queue().isAwaited()) {
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
            notJoined(thread, State.CLOSED);
            return;
        }
        try {
            lines.computeIfAbsent(peer, p -> new Places()).threads.add(thread);
        } catch (OutOfMemoryError e) {
            notJoined(thread, State.NO_MEMORY);
            return;
        }
        peer.queue().awaited(true);
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
        peer.queue().awaited(false);
        peer.roomCame(); // for senders that had to wait behind the threads
        context.capacityFreed(); // for messages to all peers, which had to wait as well
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

    /** Ends all waits, because the socket is closed. */
    void close() {
        lines.forEach((peer, line) -> {
            peer.queue().awaited(false);
            line.threads.forEach(thread -> thread.end(State.CLOSED));
            size.addAndGet(-line.threads.size());
        });
        lines.clear();
    }
}
