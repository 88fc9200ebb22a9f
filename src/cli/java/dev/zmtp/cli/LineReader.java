package dev.zmtp.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Lines of bounded length. A line ends with a line feed, and a carriage return before it belongs to the end. */
final class LineReader {

    private final InputStream input;
    private final int maxLength;

    LineReader(InputStream input, int maxLength) {
        this.input = input;
        this.maxLength = maxLength;
    }

    /** Returns the next line without its end; null at the end of the input. */
    byte @Nullable [] next() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int next = input.read();
        if (next < 0) {
            return null;
        }
        while (next >= 0 && next != '\n') {
            if (line.size() == maxLength) {
                throw CliException.failed("a line of the input: more than " + maxLength
                        + " bytes (expected: at most a frame of maximum length in this format)");
            }
            line.write(next);
            next = input.read();
        }
        byte[] bytes = line.toByteArray();
        boolean endsWithReturn = bytes.length > 0 && bytes[bytes.length - 1] == '\r';
        return endsWithReturn ? Arrays.copyOf(bytes, bytes.length - 1) : bytes;
    }
}
