package dev.zmtp.cli;

import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.capture.ZMTPRecording.Entry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints a capture, a line for each message and event, or the frames of connections that it forwards. */
@Command(
        name = "dump",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Prints the messages of a file that --capture or the library has written.",
            "With --bind, forwards TCP connections to an endpoint and prints each frame."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  zmtp dump -f quoted traffic.pcapng", "  zmtp dump -b tcp://:5556 tcp://10.0.0.7:5555"})
final class DumpCommand implements Callable<Integer> {

    private final Console console;

    @Parameters(
            paramLabel = "FILE|ENDPOINT",
            description = "The capture; or, with --bind, the endpoint to forward to, such as tcp://10.0.0.7:5555.")
    private String source = "";

    @Option(
            names = {"-b", "--bind"},
            paramLabel = "ENDPOINT",
            description = "Forwards the connections to this endpoint; tcp://:5555 is tcp://*:5555.")
    private @Nullable String bind;

    @Option(
            names = {"-f", "--format"},
            paramLabel = "FORMAT",
            converter = PrintOptions.FormatConverter.class,
            defaultValue = "text",
            description = "Format of messages: text, quoted, hex, json or none. Default: text.")
    private MessageFormat format = MessageFormat.TEXT;

    DumpCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (format == MessageFormat.RAW) {
            throw new CliException(ExitCode.USAGE, "--format: raw (expected: a format with a line for each message)");
        }
        if (bind == null) {
            print(Path.of(source));
        } else {
            new TcpRelay(console, format, bind, source).run();
        }
        return ExitCode.OK;
    }

    private void print(Path file) {
        try (ZMTPRecording recording = ZMTPRecording.open(file)) {
            for (Entry entry : recording.entries()) {
                console.print((line(entry) + '\n').getBytes(StandardCharsets.UTF_8));
            }
            console.flush();
            if (!recording.isComplete()) {
                console.complain(file + " is not complete: " + recording.dropped()
                        + " packets were dropped, or its end is missing");
            }
        } catch (IOException e) {
            throw CliException.failed(file + ": " + Main.text(e));
        }
    }

    /** Returns the time in seconds, the connection, and the message or event, in the direction of the recorded socket. */
    private String line(Entry entry) {
        String text = switch (entry.kind()) {
            case UP -> "up: " + endpoint(entry) + ", " + entry.socketType() + ", peer " + peer(entry);
            case DOWN -> "down";
            case RECEIVED -> "< " + format.line(entry.frames());
            case SENT -> "> " + format.line(entry.frames());
            case SUBSCRIBED -> "subscribe " + format.line(entry.frames());
            case CANCELLED -> "cancel " + format.line(entry.frames());
        };
        return String.format(Locale.ROOT, "%.6f #%d %s", entry.time().toNanos() / 1e9, entry.connection(), text);
    }

    /** Returns the endpoint without characters that a terminal would obey, because somebody else can have made the file. */
    private static String endpoint(Entry entry) {
        return MessageFormat.TEXT.line(List.of(entry.endpoint().getBytes(StandardCharsets.UTF_8)));
    }

    private static String peer(Entry entry) {
        byte[] bytes = Frames.bytes(entry.routingId());
        String type = entry.peerType() == null
                ? "of an unknown type"
                : entry.peerType().toString();
        return bytes.length == 0 ? type : type + " " + MessageFormat.QUOTED.line(List.of(bytes));
    }
}
