package dev.zmtp.codec;

import java.util.function.LongSupplier;

/** The clock of a codec, which only its own package can set. */
public final class CodecClock {

    private CodecClock() {}

    /** Has the codec look at this clock. */
    public static ZMTPCodec.Builder set(ZMTPCodec.Builder codec, LongSupplier nanoTime) {
        return codec.nanoTime(nanoTime);
    }
}
