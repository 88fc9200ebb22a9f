package dev.zmtp.internal.socket.receive;

import static dev.zmtp.internal.socket.context.PeerCounters.Counter.DISCARDED;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPSocketEvent.DropReason;
import io.netty.util.ReferenceCountUtil;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** Releases received messages that newer messages have replaced, and reports their number. */
final class Outdated {

    private final SocketContext context;
    private final ReentrantLock lock;
    private final Runnable reportTask = this::report;

    /**
     * Number of released messages that were not reported yet, of each peer. One task of the event loop empties it, so
     * it contains no more than the peers of this time. Guarded by the lock.
     */
    private Map<Peer, Long> released = new LinkedHashMap<>(0);

    /** @param lock the lock of the {@code Inbox} */
    Outdated(SocketContext context, ReentrantLock lock) {
        this.context = context;
        this.lock = lock;
    }

    /**
     * Releases the message. It is reported by a later task, because an event listener can run in the thread that
     * reports, and must not run under the lock. Under the lock, from any thread.
     */
    void add(Peer from, ZMTPMessage message) {
        ReferenceCountUtil.safeRelease(message);
        if (released.isEmpty()) {
            context.execute(reportTask);
        }
        released.merge(from, 1L, Long::sum);
    }

    /** Counts the messages since the last call for their peers. On the event loop. */
    private void report() {
        Map<Peer, Long> those;
        lock.lock();
        try {
            those = released;
            released = new LinkedHashMap<>(0);
        } finally {
            lock.unlock();
        }
        those.forEach((peer, messages) -> {
            peer.counters().add(DISCARDED, messages);
            context.drops().dropped(peer, DropReason.OUTDATED, messages);
        });
    }
}
