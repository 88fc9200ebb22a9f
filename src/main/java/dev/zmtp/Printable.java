package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.IllegalReferenceCountException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Makes text from a peer safe to print. A peer must not be able to forge log lines, to send control sequences to a
 * terminal, or to fill a disk.
 */
final class Printable {

    /** Maximum number of characters in a text. */
    static final int MAX_TEXT_LENGTH = 256;

    private static final int MAX_BYTES = 32;
    private static final Pattern UNPRINTABLE = Pattern.compile("[^ -~]");

    private Printable() {}

    /** Returns {@code text} with everything except printable ASCII replaced by {@code ?}, truncated if it is long. */
    static String text(String text) {
        if (text.length() <= MAX_TEXT_LENGTH) {
            return UNPRINTABLE.matcher(text).replaceAll("?");
        }
        String start = UNPRINTABLE.matcher(text.substring(0, MAX_TEXT_LENGTH)).replaceAll("?");
        return start + ".. " + text.length() + " characters";
    }

    /** Returns the first readable bytes of {@code bytes}, as text if they are printable ASCII, otherwise in hex. */
    static String bytes(ByteBuf bytes) {
        int length = bytes.readableBytes();
        int shown = Math.min(length, MAX_BYTES);
        String start;
        try {
            start = isPrintable(bytes, shown)
                    ? '"' + bytes.toString(bytes.readerIndex(), shown, StandardCharsets.US_ASCII) + '"'
                    : "0x" + ByteBufUtil.hexDump(bytes, bytes.readerIndex(), shown);
        } catch (IllegalReferenceCountException e) {
            start = "released";
        }
        return shown < length ? start + ".. " + length + " bytes" : start;
    }

    private static boolean isPrintable(ByteBuf bytes, int length) {
        return bytes.forEachByte(bytes.readerIndex(), length, b -> b >= 0x20 && b < 0x7f) < 0;
    }
}
