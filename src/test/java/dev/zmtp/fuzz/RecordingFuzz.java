package dev.zmtp.fuzz;

import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.internal.capture.RecordingReader;
import dev.zmtp.internal.capture.RecordingSource;
import dev.zmtp.internal.capture.RecordingSummary;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;

/**
 * Any bytes as the file of a recording. It is read, in whole or byte by byte, or it is refused with the value that is
 * wrong, and what is read once can be read again.
 */
public final class RecordingFuzz {

    /** Maximum time between the connection and the end of a file, as a reader allows. */
    private static final Duration MAX_TIME = Duration.ofDays(366);

    private RecordingFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Input input = new Input(bytes);
        int most = input.number(1 << 16, 1, 13);
        byte[] file = input.rest();
        RecordingSummary summary;
        try {
            summary = RecordingReader.summarize(source(file, most), file.length);
        } catch (IOException documented) {
            FuzzFailure.unless(documented.getMessage().matches("(?s).+: .+ \\(expected: .+\\)"), "message", documented);
            return;
        }
        FuzzFailure.unless(!summary.complete() || summary.dropped() == 0, "complete", summary);
        try {
            FuzzFailure.unlessEqual(read(file, most, summary), read(file, 1 << 16, summary), "read again");
        } catch (IOException e) {
            throw new FuzzFailure("read again", e);
        }
    }

    private static RecordingSource source(byte[] file, int most) {
        return (target, position) -> {
            int length = (int) Math.min(Math.min(most, target.remaining()), file.length - position);
            target.put(file, (int) position, length);
            return length == 0 ? -1 : length;
        };
    }

    /** Reads all entries, and returns a text of them. */
    private static String read(byte[] file, int most, RecordingSummary summary) throws IOException {
        RecordingReader reader = RecordingReader.of(source(file, most), summary);
        StringBuilder all = new StringBuilder();
        Duration last = Duration.ZERO;
        int connections = 0;
        long bytes = 0;
        for (ZMTPRecording.Entry next = reader.next(); next != null; next = reader.next()) {
            boolean up = next.kind() == ZMTPRecording.Kind.UP;
            connections += up ? 1 : 0;
            FuzzFailure.unless(!up || next.connection() == connections, "number", next);
            FuzzFailure.unless(next.connection() > 0 && next.connection() <= connections, "number", next);
            FuzzFailure.unless(next.time().compareTo(last) >= 0, "time", next);
            FuzzFailure.unless(next.time().compareTo(MAX_TIME) <= 0, "time", next);
            FuzzFailure.unless(summary.endpoints().contains(next.endpoint()), "endpoint", next);
            last = next.time();
            for (byte[] frame : next.frames()) {
                bytes += Objects.requireNonNull(frame).length;
                FuzzFailure.unless(bytes <= file.length, "bytes of frames", bytes);
            }
            all.append(next.time())
                    .append(next.connection())
                    .append(next.kind())
                    .append(bytes);
        }
        return all.toString();
    }
}
