package dev.zmtp.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Turns a logger on, at every level, and keeps what it logs until this is closed.
 *
 * <p>Netty logs through {@code java.util.logging} here, as no other back end is on the test path; there, nothing below
 * INFO is even formatted unless someone asks for it.
 */
public final class CapturedLog implements AutoCloseable {

    /** What was logged, in order. */
    public final List<String> lines = new CopyOnWriteArrayList<>();

    /** The same with their levels. */
    public final List<LogRecord> records = new CopyOnWriteArrayList<>();

    /** The exceptions whose stack traces were logged, in order. */
    public final List<Throwable> traces = new CopyOnWriteArrayList<>();

    private final Logger logger; // a strong reference, as the JDK itself holds loggers weakly
    private final Level level;
    private final boolean toParents;

    private final AtomicReference<@Nullable Error> failure = new AtomicReference<>();

    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord record) {
            Error thrown = failure.getAndSet(null);
            if (thrown != null) {
                throw thrown;
            }
            lines.add(record.getMessage());
            records.add(record);
            if (record.getThrown() != null) {
                traces.add(record.getThrown());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    /** Captures what is logged under {@code name}. */
    public CapturedLog(String name) {
        logger = Logger.getLogger(name);
        level = logger.getLevel();
        toParents = logger.getUseParentHandlers();
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        logger.setLevel(Level.ALL);
    }

    /** Throws the error in place of the next line. */
    public void failOnce(Error error) {
        failure.set(error);
    }

    @Override
    public void close() {
        logger.setLevel(level);
        logger.removeHandler(handler);
        logger.setUseParentHandlers(toParents);
    }
}
