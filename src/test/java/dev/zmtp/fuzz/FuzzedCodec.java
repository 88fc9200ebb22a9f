package dev.zmtp.fuzz;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPMemoryBudget;
import java.util.Arrays;

/** Codecs as an input chooses them. */
final class FuzzedCodec {

    private static final String[] IDENTITIES = {"", "me", "i".repeat(253), "i".repeat(254), "i".repeat(255)};
    private static final int NONE = 1 << 30;

    private static final int MIN_STRETCH = 128;

    /** Reserved bits from 2.0 on; and before, the start of a length of more than 2^63. */
    private static final byte NO_HEADER = (byte) 0xff;

    private FuzzedCodec() {}

    /** A codec of any type and version, with or without interop, under an identity of any length. */
    static ZMTPCodec.Builder any(Input input) {
        ZMTPVersion version = input.of(ZMTPVersion.ZMTP31, ZMTPVersion.ZMTP30, ZMTPVersion.ZMTP20, ZMTPVersion.ZMTP10);
        ZMTPSocketType type = input.of(ZMTPSocketType.values());
        boolean old = !version.hasCommands() && type.isDraft();
        ZMTPCodec.Builder codec = ZMTPCodec.builder()
                .socketType(type)
                .protocol(old ? ZMTPVersion.ZMTP31 : version)
                .localIdentity(input.of(IDENTITIES))
                .interop(input.choice(4) != 3);
        return limited(codec, input);
    }

    /** The same codec with limits, most of them small, some of them unlimited. */
    static ZMTPCodec.Builder limited(ZMTPCodec.Builder codec, Input input) {
        int frameLength = input.number(NONE, 1, 5, 255, 256, 5000, 100_000);
        int messageLength = input.number(NONE, 1, 5, 100, 300, 5000, 100_000);
        return codec.memoryBudget(ZMTPMemoryBudget.of(Long.MAX_VALUE))
                .maxFrameLength(Math.min(frameLength, messageLength))
                .maxMessageLength(messageLength)
                .maxMessageFrames(input.number(1024, 1, 2, 3, 10))
                .maxCommandLength(input.number(8192, 1, 5, 12, 255, 256))
                .maxHandshakeCommandLength(input.number(NONE, 25, 27, 50, 300))
                .maxMetadataProperties(input.number(256, 1, 2, 3));
    }

    /** The same codec, perhaps with a decoder of the user's. */
    static ZMTPCodec.Builder decoded(ZMTPCodec.Builder codec, Input input) {
        boolean none = input.choice(2) == 0;
        Parts.Manner manner = input.of(Parts.Manner.values());
        return none ? codec : codec.decoder(session -> new Parts(manner));
    }

    /** The lengths of reads, from one byte to many thousands; empty for a single read. */
    static int[] reads(Input input) {
        int[] lengths = new int[input.choice(9)];
        for (int i = 0; i < lengths.length; i++) {
            int length = input.oneByte();
            lengths[i] = length < 200 ? length + 1 : (length - 199) << 10;
        }
        return lengths;
    }

    /** The rest of the input, perhaps followed by some KiB that are malformed unless they are part of a body. */
    static byte[] stream(Input input) {
        int stretch = Math.max(0, input.oneByte() - MIN_STRETCH) << 11;
        byte[] bytes = input.rest();
        byte[] stream = Arrays.copyOf(bytes, bytes.length + stretch);
        Arrays.fill(stream, bytes.length, stream.length, NO_HEADER);
        return stream;
    }
}
