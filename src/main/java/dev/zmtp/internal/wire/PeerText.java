package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Formats bytes chosen by a peer so that they cannot forge a log line. */
public final class PeerText {

    private PeerText() {}

    /** Returns the bytes as text if they are printable ASCII, otherwise in hex. */
    public static String of(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        String text = new String(copy, StandardCharsets.ISO_8859_1);
        boolean printable = text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
        return printable ? '"' + text + '"' : "0x" + ByteBufUtil.hexDump(copy);
    }
}
