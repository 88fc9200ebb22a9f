package dev.zmtp.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * What the library, and Netty for it, log as warnings and errors: mostly an exception that had no better place to go.
 *
 * <p>Netty logs to the JDK's loggers here, as no other library is there to log to.
 */
final class Warnings extends Handler {

    private static final List<Logger> LOGGERS = List.of(Logger.getLogger("dev.zmtp"), Logger.getLogger("io.netty"));

    private final List<LogRecord> records = new ArrayList<>(0);

    private Warnings() {
        setLevel(Level.WARNING);
    }

    /** Listens until {@link #stop}. */
    static Warnings listen() {
        Warnings warnings = new Warnings();
        LOGGERS.forEach(logger -> logger.addHandler(warnings));
        return warnings;
    }

    /** Stops to listen. */
    void stop() {
        LOGGERS.forEach(logger -> logger.removeHandler(this));
    }

    /** Fails if there were any. */
    void check() {
        for (LogRecord logged : records) {
            throw new FuzzFailure("logged: " + logged.getLoggerName() + ": " + logged.getMessage(), logged.getThrown());
        }
    }

    @Override
    public void publish(LogRecord logged) {
        if (isLoggable(logged)) {
            records.add(logged);
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
