package dev.zmtp.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The streams of the program. Standard output has messages and results, and standard error has everything else. */
final class Console {

    /** The reader of standard output has closed it, which ends the program without an error. */
    static final class ClosedOutputException extends RuntimeException {
        private static final long serialVersionUID = 1;

        ClosedOutputException(IOException cause) {
            super(cause);
        }
    }

    /** English messages of Unix and of Windows. */
    private static final Pattern CLOSED =
            Pattern.compile("broken pipe|pipe is being closed|pipe has been ended", Pattern.CASE_INSENSITIVE);

    private final InputStream input;
    private final OutputStream output;
    private final PrintStream errors;
    private final boolean ofProcess;

    Console(InputStream input, OutputStream output, PrintStream errors) {
        this(input, output, errors, false);
    }

    private Console(InputStream input, OutputStream output, PrintStream errors, boolean ofProcess) {
        this.input = input;
        this.output = output;
        this.errors = errors;
        this.ofProcess = ofProcess;
    }

    /** Returns the console of this process, whose output is flushed by {@link #flush} alone. */
    static Console ofProcess() {
        return new Console(
                new BufferedInputStream(new FileInputStream(FileDescriptor.in)),
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16),
                new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
                true);
    }

    /** Returns whether the program has this process for itself, so that all log lines are its own. */
    boolean isOfProcess() {
        return ofProcess;
    }

    InputStream input() {
        return input;
    }

    PrintStream errors() {
        return errors;
    }

    /** Writes to standard output. From any thread. */
    synchronized void print(byte[] bytes) {
        try {
            output.write(bytes);
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /** Writes a line to standard output and flushes it. From any thread. */
    void printLine(String line) {
        print((line + '\n').getBytes(StandardCharsets.UTF_8));
        flush();
    }

    synchronized void flush() {
        try {
            output.flush();
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static RuntimeException failure(IOException e) {
        String text = Main.text(e);
        return CLOSED.matcher(text).find() || text.equals(textOfAClosedPipe())
                ? new ClosedOutputException(e)
                : CliException.failed("standard output: " + text);
    }

    /** Returns the system's text for a pipe without a reader, which is in the language of the user. */
    private static String textOfAClosedPipe() {
        try {
            Pipe pipe = Pipe.open();
            try (Pipe.SinkChannel sink = pipe.sink()) {
                pipe.source().close();
                sink.write(ByteBuffer.allocate(1));
            }
            return "";
        } catch (IOException e) {
            return Main.text(e);
        }
    }

    /** Writes a line to standard error. From any thread. */
    void complain(String line) {
        StringBuilder shown = new StringBuilder("zmtp: ");
        line.codePoints().forEach(c -> shown.appendCodePoint(Character.isISOControl(c) ? ' ' : c));
        errors.println(shown);
    }
}
