package dev.zmtp.compare;

import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** The figures of a peer program at one moment: those of its {@code mark} line. */
record Mark(Map<String, Long> figures) {

    /** The start of the line. */
    static final String PREFIX = "mark ";

    private static final Set<String> COUNTED = Set.of("nanos", "messages", "cpu", "allocated", "late");
    private static final Set<String> LEVELS = Set.of("rss", "resident", "heap", "direct");

    /**
     * Reads a line such as {@code mark nanos=5 messages=3}; throws {@link IllegalArgumentException} if it is not one.
     */
    static Mark parse(String line) {
        if (!line.startsWith(PREFIX)) {
            throw wrong(line, "a line that starts with \"mark \"");
        }
        Map<String, Long> figures = new TreeMap<>();
        for (String item : line.substring(PREFIX.length()).strip().split(" +", -1)) {
            int equals = item.indexOf('=');
            String key = equals < 0 ? item : item.substring(0, equals);
            if (equals < 0 || !(COUNTED.contains(key) || LEVELS.contains(key))) {
                throw wrong(line, "key=number, not \"" + item + "\"");
            }
            if (!item.substring(equals + 1).matches("[0-9]{1,18}")) {
                throw wrong(line, "a number of 1 to 18 digits for " + key);
            }
            if (figures.put(key, Long.parseLong(item.substring(equals + 1))) != null) {
                throw wrong(line, key + " once");
            }
        }
        if (!figures.containsKey("nanos") || !figures.containsKey("messages")) {
            throw wrong(line, "nanos and messages");
        }
        return new Mark(figures);
    }

    /** The figure of {@code key}, absent if it does not apply to the peer. */
    OptionalLong get(String key) {
        Long value = figures.get(key);
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** What was counted since {@code earlier}; a figure that is a level, not a count, stays as it is here. */
    Mark since(Mark earlier) {
        Map<String, Long> difference = new TreeMap<>(figures);
        difference.replaceAll((key, value) ->
                COUNTED.contains(key) ? (Long) (value - earlier.get(key).orElse(0)) : value);
        return new Mark(difference);
    }

    /** How much {@code key} grows in a second, absent as in {@link #get}, or if no time has passed. */
    OptionalDouble perSecond(String key) {
        long nanos = figures.getOrDefault("nanos", 0L);
        Long value = figures.get(key);
        return value == null || nanos <= 0 ? OptionalDouble.empty() : OptionalDouble.of(value * 1e9 / nanos);
    }

    private static IllegalArgumentException wrong(String line, String expected) {
        return new IllegalArgumentException("mark: \"" + line + "\" (expected: " + expected + ")");
    }
}
