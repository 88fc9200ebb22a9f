package dev.zmtp.internal.socket.context;

import dev.zmtp.codec.ZMTPConfig;
import java.time.Duration;
import java.util.function.Consumer;

/** Checks settings. The exceptions contain the value and the expected range. */
public final class Settings {

    /** Maximum number of outstanding requests, so that an id that has not been used recently is always available. */
    public static final int MOST_REQUESTS = 0xFF_FFFF / 4;

    /** Longer than any process runs. */
    public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    private Settings() {}

    /** Returns the maximum delay if it is not less than the initial delay. */
    public static Duration notLess(Duration max, Duration initial) {
        if (max.compareTo(initial) < 0) {
            throw new IllegalArgumentException("max: " + max + " (expected: >= initial, " + initial + ")");
        }
        return max;
    }

    /** Returns the timeout if the transports support it. */
    public static Duration connectTimeout(Duration timeout) {
        positive("connectTimeout", timeout);
        if (timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException("connectTimeout: " + timeout + " (expected: <= 24 days)");
        }
        return timeout;
    }

    public static Duration positive(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 1 ms)");
        }
        return value;
    }

    public static Duration notNegative(String name, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= 0)");
        }
        return value;
    }

    /** Returns the number if it is a valid maximum of outstanding requests. */
    public static int outstandingRequests(int requests) {
        if (requests < 1 || requests > MOST_REQUESTS) {
            throw new IllegalArgumentException(
                    "maxOutstandingRequests: " + requests + " (expected: 1 to " + MOST_REQUESTS + ")");
        }
        return requests;
    }

    public static int atLeast(String name, int value, int least) {
        return (int) atLeast(name, (long) value, least);
    }

    public static long atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + least + ")");
        }
        return value;
    }

    public static long nanos(Duration duration) {
        if (duration.isNegative()) {
            return -1; // for any negative duration
        }
        return duration.compareTo(FOREVER) >= 0 ? Long.MAX_VALUE : duration.toNanos();
    }

    /** Returns the config with these changes, which must neither change the type nor add an encoder or a decoder. */
    public static ZMTPConfig codec(ZMTPConfig config, Consumer<? super ZMTPConfig.Builder> changes) {
        ZMTPConfig.Builder changed = config.toBuilder();
        changes.accept(changed);
        ZMTPConfig result = withMessages(changed.build());
        if (result.socketType() != config.socketType()) {
            throw new IllegalArgumentException(
                    "socketType: " + result.socketType() + " (expected: " + config.socketType() + ")");
        }
        return result;
    }

    /** Returns the config if its messages are {@code ZMTPMessage}s. */
    public static ZMTPConfig withMessages(ZMTPConfig codec) {
        if (codec.encoder() != null || codec.decoder() != null) {
            throw new IllegalArgumentException("codec: " + codec + " (expected: one without an encoder and a decoder)");
        }
        return codec;
    }
}
