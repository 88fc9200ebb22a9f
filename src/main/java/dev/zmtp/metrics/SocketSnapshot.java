package dev.zmtp.metrics;

import dev.zmtp.socket.ZMTPStats;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The counts of a socket, read once a second at most, because reading them walks over all peers. From any thread. */
final class SocketSnapshot {

    private static final long MAX_AGE = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<ZMTPStats> readStats;
    private final IntSupplier countPeers;
    private final LongSupplier nanoTime;

    private @Nullable ZMTPStats stats;
    private int peers;
    private long readAt;

    SocketSnapshot(Supplier<ZMTPStats> readStats, IntSupplier countPeers, LongSupplier nanoTime) {
        this.readStats = readStats;
        this.countPeers = countPeers;
        this.nanoTime = nanoTime;
    }

    synchronized ZMTPStats stats() {
        ZMTPStats now = stats;
        long time = nanoTime.getAsLong();
        if (now == null || time - readAt >= MAX_AGE) {
            now = readStats.get();
            stats = now;
            peers = countPeers.getAsInt();
            readAt = time;
        }
        return now;
    }

    synchronized int peers() {
        stats();
        return peers;
    }
}
