package dev.zmtp.cli;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Frames in double quotes, with the escapes {@code \n}, {@code \t}, {@code \"}, {@code \\} and {@code \xNN}. */
final class Quoted {

    private static final String LETTERS = "nrt\"\\";
    private static final String MEANINGS = "\n\r\t\"\\";

    private Quoted() {}

    static String print(byte[] frame) {
        StringBuilder printed = new StringBuilder("\"");
        for (byte b : frame) {
            int escape = MEANINGS.indexOf(b & 0xff);
            if (escape >= 0) {
                printed.append('\\').append(LETTERS.charAt(escape));
            } else if (b >= ' ' && b < 127) {
                printed.append((char) b);
            } else {
                printed.append("\\x").append(HexFormat.of().toHexDigits(b));
            }
        }
        return printed.append('"').toString();
    }

    static List<byte[]> parse(byte[] bytes) {
        List<byte[]> frames = new ArrayList<>();
        int at = 0;
        while (at < bytes.length) {
            if (bytes[at] == ' ') {
                at++;
            } else if (bytes[at] == '"') {
                at = parseFrame(bytes, at + 1, frames);
            } else {
                throw new IllegalArgumentException("byte " + at + ": '" + (char) bytes[at] + "' (expected: \")");
            }
        }
        if (frames.isEmpty()) {
            throw new IllegalArgumentException("no frame (expected: frames in double quotes)");
        }
        return frames;
    }

    /** Returns the index after the closing quote. */
    private static int parseFrame(byte[] bytes, int from, List<byte[]> frames) {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        int at = from;
        while (at < bytes.length && bytes[at] != '"') {
            if (bytes[at] != '\\') {
                frame.write(bytes[at++]);
                continue;
            }
            char kind = at + 1 < bytes.length ? (char) bytes[at + 1] : ' ';
            int letter = LETTERS.indexOf(kind);
            if (letter >= 0) {
                frame.write(MEANINGS.charAt(letter));
                at += 2;
            } else if (kind == 'x' && at + 3 < bytes.length) {
                frame.write(HexFormat.fromHexDigits(new String(bytes, at + 2, 2, StandardCharsets.US_ASCII)));
                at += 4;
            } else {
                throw new IllegalArgumentException(
                        "byte " + at + ": an unknown escape (expected: \\n \\r \\t \\\" \\\\ \\xNN)");
            }
        }
        if (at >= bytes.length) {
            throw new IllegalArgumentException("a frame without its closing quote");
        }
        frames.add(frame.toByteArray());
        return at + 1;
    }
}
