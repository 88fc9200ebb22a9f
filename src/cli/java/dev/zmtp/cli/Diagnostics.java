package dev.zmtp.cli;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the library logs, a line each on standard error. Only {@code -vv} shows stack traces and frames. */
final class Diagnostics extends Handler {

    // Strong references, because the JDK holds loggers weakly.
    private static final Logger ROOT = Logger.getLogger("");
    private static final Logger FRAMES = Logger.getLogger("dev.zmtp.codec.FrameLog");

    private final Console console;
    private final boolean traces;

    private Diagnostics(Console console, boolean traces) {
        this.console = console;
        this.traces = traces;
    }

    /** Replaces all handlers of the JDK's logging if the process has no other program. */
    static void install(Console console, boolean quiet, int verbosity) {
        if (!console.isOfProcess()) {
            return;
        }
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        for (Handler other : ROOT.getHandlers()) {
            ROOT.removeHandler(other);
        }
        ROOT.setLevel(quiet ? Level.OFF : verbosity > 0 ? Level.INFO : Level.WARNING);
        FRAMES.setLevel(verbosity > 1 && !quiet ? Level.FINEST : null);
        ROOT.addHandler(new Diagnostics(console, verbosity > 1));
    }

    @Override
    public void publish(LogRecord line) {
        Throwable thrown = line.getThrown();
        console.complain(line.getMessage() + (thrown == null ? "" : ": " + thrown));
        if (traces && thrown != null) {
            thrown.printStackTrace(console.errors());
        }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
