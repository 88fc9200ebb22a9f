package dev.zmtp.cli;

import dev.zmtp.capture.ZMTPCapture;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The capture of a command, which is also complete if a signal ends the command. */
final class CommandCapture {

    /** Maximum time for which a slow disk delays the end of the process. */
    private static final int EXIT_SECONDS = 5;

    private final Console console;
    private final Path file;
    private final ZMTPCapture capture;
    private final Thread exitHook = new Thread(this::exit, "zmtp-capture-exit");

    private CommandCapture(Console console, Path file, ZMTPCapture capture) {
        this.console = console;
        this.file = file;
        this.capture = capture;
    }

    /** Creates the file. */
    static CommandCapture open(Console console, Path file) {
        ZMTPCapture opened;
        try {
            opened = ZMTPCapture.open(file);
        } catch (IOException e) {
            throw failed(file, e);
        }
        CommandCapture capture = new CommandCapture(console, file, opened);
        Runtime.getRuntime().addShutdownHook(capture.exitHook);
        return capture;
    }

    ZMTPCapture capture() {
        return capture;
    }

    /**
     * Writes the rest of the file. Returns the text of its failure, or that packets are missing; null if it is whole.
     * Synchronized, so that the end of the process waits for a close that has begun.
     */
    @Nullable
    String close() {
        return close(false);
    }

    /** @param inUse whether messages still arrive, which are dropped after the close */
    private synchronized @Nullable String close(boolean inUse) {
        long before = capture.dropped();
        try {
            capture.close();
        } catch (IOException e) {
            return Main.text(failed(file, e));
        } finally {
            forgetExit();
        }
        long dropped = inUse ? before : capture.dropped();
        return dropped == 0 ? null : "--capture " + file + ": " + dropped + " packets were dropped";
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException e) { // the process is ending, and the hook runs
        }
    }

    /** Closes the capture on a daemon thread, because only the wait for a thread can be limited. */
    private void exit() {
        FutureTask<@Nullable String> closed = new FutureTask<>(() -> close(true));
        Thread thread = new Thread(closed, "zmtp-capture-close");
        thread.setDaemon(true);
        thread.start();
        try {
            String missing = closed.get(EXIT_SECONDS, TimeUnit.SECONDS);
            if (missing != null) {
                console.complain(missing);
            }
        } catch (ExecutionException e) {
            console.complain(Main.text(e));
        } catch (TimeoutException e) {
            console.complain("--capture " + file + ": not written within " + EXIT_SECONDS + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static CliException failed(Path file, IOException e) {
        return CliException.failed("--capture " + file + ": " + Main.text(e));
    }
}
