package dev.zmtp.soak;

import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** The messages that were sent by one socket, and the fate of those that have a future. For any thread. */
final class SentMessages {

    private enum Result {
        /** The transport has it. */
        WRITTEN,
        /** It is unknown whether it has arrived. */
        UNKNOWN,
        /** It was dropped after it was accepted. */
        DROPPED,
        /** It was never accepted. */
        REFUSED,
        /** It was accepted without a future. */
        UNTOLD
    }

    private final Map<Result, LongAdder> results = new EnumMap<>(Result.class);
    private final LongAdder sent = new LongAdder();
    private final Set<Long> streams = ConcurrentHashMap.newKeySet();

    SentMessages() {
        for (Result result : Result.values()) {
            results.put(result, new LongAdder());
        }
    }

    void began(long stream) {
        streams.add(stream);
    }

    /** Counts a message that was accepted without a future. */
    void untold() {
        sent.increment();
        count(Result.UNTOLD);
    }

    /** Counts a message that was refused, and that the socket has counted as dropped. */
    void refused() {
        sent.increment();
        count(Result.REFUSED);
    }

    /** Counts a message with this future. */
    void told(CompletableFuture<Void> future) {
        sent.increment();
        future.whenComplete((nothing, failure) -> count(resultOf(failure)));
    }

    /** Counts a request. */
    void asked() {
        sent.increment();
    }

    /** Counts a request that was refused, because several threads found room for a single one. */
    void askRefused() {
        count(Result.REFUSED);
    }

    private static Result resultOf(@Nullable Throwable failure) {
        if (failure == null) {
            return Result.WRITTEN;
        }
        return switch (((ZMTPSocketException) failure).reason()) {
            case OUTCOME_UNKNOWN -> Result.UNKNOWN;
            case FULL -> Result.REFUSED;
            default -> Result.DROPPED;
        };
    }

    private void count(Result result) {
        results.get(result).increment();
    }

    private long number(Result result) {
        return results.get(result).sum();
    }

    /** Returns the number of messages that were accepted. */
    long accepted() {
        return sent.sum() - number(Result.REFUSED);
    }

    /** Returns the number of messages that the socket has lost, or might have lost, after it accepted them. */
    long lost(ZMTPStats report) {
        return report.outcomeUnknown() + report.dropped() - number(Result.REFUSED);
    }

    /**
     * Compares the messages with the counters of the closed socket.
     *
     * @param arrived the number of messages of a stream that have arrived
     */
    void check(ZMTPStats report, ToLongFunction<Long> arrived, Consumer<String> wrong) {
        if (report.sent() != sent.sum()) {
            wrong.accept("sent " + sent + " (expected: as many as the socket has counted, " + report + ")");
        }
        long all = streams.stream().mapToLong(arrived).sum();
        if (all > report.written() + report.outcomeUnknown()) {
            wrong.accept("arrived: " + all + " (expected: <= written + unknown, " + report + ")");
        }
        // At the end of the socket, the transport had some. They are unknown there, and their futures can know more.
        long left = report.written() + report.outcomeUnknown();
        long told = number(Result.WRITTEN) + number(Result.UNKNOWN);
        long failed = number(Result.DROPPED) + number(Result.REFUSED);
        long untold = number(Result.UNTOLD);
        boolean fits = told <= left
                && left <= told + untold
                && failed <= report.dropped()
                && report.dropped() <= failed + untold
                && number(Result.WRITTEN) + untold >= report.written();
        if (!fits || told + failed + untold != sent.sum()) {
            wrong.accept("results: " + results + " of " + sent + " (expected: those of " + report + ")");
        }
    }

    @Override
    public String toString() {
        return sent + " " + results;
    }
}
