package dev.zmtp.soak;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts by topic and kind. For any thread. */
final class Totals {

    private final Map<String, Map<String, LongAdder>> topics = new ConcurrentSkipListMap<>();

    /** Adds one. */
    void count(String topic, Object kind) {
        add(topic, kind, 1);
    }

    /** Adds {@code count}. */
    void add(String topic, Object kind, long count) {
        topics.computeIfAbsent(topic, created -> new ConcurrentSkipListMap<>())
                .computeIfAbsent(String.valueOf(kind), created -> new LongAdder())
                .add(count);
    }

    /** What was counted of all kinds of {@code topic}. */
    long sum(String topic) {
        return topics.getOrDefault(topic, Map.of()).values().stream()
                .mapToLong(LongAdder::sum)
                .sum();
    }

    /** What was counted of this. */
    long sum(String topic, Object kind) {
        LongAdder adder = topics.getOrDefault(topic, Map.of()).get(String.valueOf(kind));
        return adder == null ? 0 : adder.sum();
    }

    /** Prints all, a line for each. */
    void print(PrintWriter out) {
        topics.forEach((topic, kinds) -> {
            out.printf(Locale.ROOT, "%s: %,d%n", topic, sum(topic));
            kinds.forEach((kind, count) -> out.printf(Locale.ROOT, "  %-58s %,16d%n", kind, count.sum()));
        });
        out.flush();
    }
}
