package dev.zmtp.testing;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.util.StringTokenizer;

/**
 * Bytes written as a reader of the RFCs would write them: {@code "ff 00*8 7f  # signature"}. {@code xx*n} repeats a
 * byte, {@code "text"} is ASCII without spaces, {@code /} and white space only group, {@code #} starts a comment.
 */
public final class Hex {

    private Hex() {}

    /** The bytes that {@code text} spells. */
    public static byte[] bytes(String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        text.lines().map(line -> line.replaceFirst("#.*", "")).forEach(line -> {
            for (StringTokenizer tokens = new StringTokenizer(line, " \t/"); tokens.hasMoreTokens(); ) {
                write(out, tokens.nextToken());
            }
        });
        return out.toByteArray();
    }

    private static void write(ByteArrayOutputStream out, String token) {
        if (token.startsWith("\"")) {
            for (char c : token.substring(1, token.length() - 1).toCharArray()) {
                out.write(c);
            }
            return;
        }
        int star = token.indexOf('*');
        byte[] bytes = ByteBufUtil.decodeHexDump(star < 0 ? token : token.substring(0, star));
        int times = star < 0 ? 1 : Integer.parseInt(token.substring(star + 1));
        for (int i = 0; i < times; i++) {
            out.writeBytes(bytes);
        }
    }

    /** The bytes that {@code text} spells, in a buffer that the leak check sees. */
    public static ByteBuf buffer(String text) {
        byte[] bytes = bytes(text);
        return ByteBufAllocator.DEFAULT.buffer(bytes.length + 1).writeBytes(bytes);
    }

    /** The hex dump of the bytes that {@code text} spells: what to compare {@link #dump} with. */
    public static String of(String text) {
        return ByteBufUtil.hexDump(bytes(text));
    }

    /** The hex dump of the readable bytes of {@code buffer}, which is released. */
    public static String dump(ByteBuf buffer) {
        try {
            return ByteBufUtil.hexDump(buffer);
        } finally {
            buffer.release();
        }
    }
}
