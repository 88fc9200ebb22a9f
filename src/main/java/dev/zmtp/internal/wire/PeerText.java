package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Bytes that a peer has chosen, in a form that cannot forge a line of a log. */
public final class PeerText {

    private PeerText() {}

    /** As text if they are printable ASCII, otherwise in hex. */
    public static String of(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        String text = new String(copy, StandardCharsets.ISO_8859_1);
        boolean printable = text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
        return printable ? '"' + text + '"' : "0x" + ByteBufUtil.hexDump(copy);
    }
}
