package dev.zmtp.cli;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What is sent: data of the command line, a file, or the lines of standard input. */
final class InputOptions {

    /** Messages one after the other; null at the end. */
    interface Source {
        @Nullable
        List<byte[]> next() throws IOException;
    }

    /** What a command does with a message. */
    interface Action {
        void run(List<byte[]> message) throws Exception;
    }

    /** Maximum length of a file, and of a frame in a line, which is the default for frames. */
    static final int MAX_LENGTH =
            ZMTPConfig.builderForSocket(ZMTPSocketType.PUSH).build().maxFrameLength();

    @Option(
            names = {"-D", "--data"},
            paramLabel = "TEXT",
            description = "Sends this text as a frame. Each -D adds a frame to the message.")
    private List<String> data = new ArrayList<>();

    @Option(
            names = {"-F", "--file"},
            paramLabel = "FILE",
            description = "Sends the file as a single frame; - is standard input.")
    private @Nullable String file;

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Pauses for so long between messages. -D is then repeated until --count or an interrupt.")
    private @Nullable Duration interval;

    boolean isFixed() {
        return !data.isEmpty();
    }

    /** Returns whether the data is not from standard input. */
    boolean isGiven() {
        return isFixed() || file != null;
    }

    /** Returns whether the data ends by itself. */
    boolean isBounded() {
        return isGiven() && interval == null;
    }

    /** Pauses between two messages if there is an interval. */
    void pause() throws InterruptedException {
        if (interval != null) {
            TimeUnit.NANOSECONDS.sleep(interval.toNanos());
        }
    }

    /** Runs the action for each message, at most {@code count} times, with pauses in between if there is an interval. */
    void forEach(Source source, long count, Action action) throws Exception {
        for (long i = 0; i < count; i++) {
            List<byte[]> next = source.next();
            if (next == null) {
                return;
            }
            if (i > 0) {
                pause();
            }
            action.run(next);
        }
    }

    /** Returns the frames of {@code -D}. */
    List<byte[]> fixed() {
        if (data.stream().anyMatch(text -> text.indexOf('\uFFFD') >= 0)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--data: characters that this locale does not have (expected: a locale with UTF-8)");
        }
        return data.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
    }

    /**
     * Returns the messages to send.
     *
     * @param count how often {@code -D} is sent if it is repeated
     */
    Source source(Console console, MessageFormat format, long count) {
        if (isFixed() && file != null) {
            throw new CliException(ExitCode.USAGE, "--data and --file (expected: one of them)");
        }
        if (isFixed()) {
            long times = interval != null || count != Long.MAX_VALUE ? count : 1;
            return repeated(fixed(), times);
        }
        if (file != null) {
            return repeated(List.of(read(console, file)), 1);
        }
        return ofLines(console.input(), format, MAX_LENGTH);
    }

    private static Source repeated(List<byte[]> message, long times) {
        long[] left = {times};
        return () -> left[0]-- > 0 ? message : null;
    }

    private static byte[] read(Console console, String name) {
        try (InputStream input = name.equals("-") ? console.input() : Files.newInputStream(Path.of(name))) {
            byte[] bytes = input.readNBytes(MAX_LENGTH);
            if (input.read() >= 0) {
                throw CliException.failed(
                        "--file " + name + ": longer than " + MAX_LENGTH + " bytes (expected: a frame)");
            }
            return bytes;
        } catch (IOException e) {
            throw CliException.failed("--file " + name + ": " + Main.text(e));
        }
    }

    private static List<byte[]> checked(List<byte[]> frames, int maxFrameLength) {
        for (byte[] frame : frames) {
            if (frame.length > maxFrameLength) {
                throw new IllegalArgumentException(
                        "a frame of " + frame.length + " bytes (expected: at most " + maxFrameLength + ")");
            }
        }
        return frames;
    }

    static Source ofLines(InputStream input, MessageFormat format, int maxFrameLength) {
        LineReader lines = new LineReader(input, format.maxLineLength(maxFrameLength));
        long[] number = {0};
        return () -> {
            byte[] line = lines.next();
            number[0]++;
            try {
                return line == null ? null : checked(format.parse(line), maxFrameLength);
            } catch (IllegalArgumentException e) {
                throw CliException.failed("line " + number[0] + " of the input: " + e.getMessage());
            }
        };
    }
}
