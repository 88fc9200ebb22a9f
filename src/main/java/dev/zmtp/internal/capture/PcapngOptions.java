package dev.zmtp.internal.capture;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The options at the end of a block. */
final class PcapngOptions {

    private final ByteBuffer options;

    /** @param options the options, whose lengths are not checked yet */
    PcapngOptions(ByteBuffer options) throws IOException {
        this.options = options;
        find(-1); // checks all
    }

    /** Returns the value of an option, or null if there is none. */
    private @Nullable ByteBuffer find(int wanted) throws IOException {
        ByteBuffer in = options.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        while (in.remaining() >= Integer.BYTES) {
            int code = Short.toUnsignedInt(in.getShort());
            int length = Short.toUnsignedInt(in.getShort());
            if (PcapngBlocks.padded(length) > in.remaining()) {
                throw new IOException("option length: " + length + " (expected: <= " + in.remaining() + ")");
            }
            if (code == wanted) {
                return in.slice(in.position(), length).order(ByteOrder.LITTLE_ENDIAN);
            }
            in.position(in.position() + PcapngBlocks.padded(length));
        }
        return null;
    }

    private ByteBuffer find(int code, String name, int length) throws IOException {
        ByteBuffer value = find(code);
        if (value == null || value.remaining() != length) {
            String shown = value == null ? "missing" : value.remaining() + " bytes";
            throw new IOException(name + ": " + shown + " (expected: " + length + " bytes)");
        }
        return value;
    }

    String text(int code) throws IOException {
        ByteBuffer value = find(code);
        return value == null ? "" : StandardCharsets.UTF_8.decode(value).toString();
    }

    int oneByte(int code, String name) throws IOException {
        return find(code, name, 1).get();
    }

    int number(int code, String name) throws IOException {
        return find(code, name, Integer.BYTES).getInt();
    }

    /** Returns a count, which is at most 2^63 - 1. */
    long count(int code, String name) throws IOException {
        long value = find(code, name, Long.BYTES).getLong();
        if (value < 0) {
            throw new IOException(
                    name + ": " + Long.toUnsignedString(value) + " (expected: <= " + Long.MAX_VALUE + ")");
        }
        return value;
    }

    /** Returns a time in nanoseconds since 1970. */
    long time(int code, String name) throws IOException {
        return time(find(code, name, Long.BYTES));
    }

    /** Reads a time in nanoseconds since 1970. */
    static long time(ByteBuffer in) throws IOException {
        long high = Integer.toUnsignedLong(in.getInt());
        long time = high << Integer.SIZE | Integer.toUnsignedLong(in.getInt());
        if (time < 0) {
            throw new IOException("time: " + Long.toUnsignedString(time) + " ns (expected: <= " + Long.MAX_VALUE + ")");
        }
        return time;
    }
}
