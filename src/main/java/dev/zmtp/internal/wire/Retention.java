package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;

/** The cost of a retained slice, which prevents its whole buffer from being reused. */
public final class Retention {

    private Retention() {}

    /**
     * Returns whether {@code length} bytes are at least half of the memory that a retained slice of {@code in} pins.
     */
    public static boolean isWorthKeeping(ByteBuf in, int length) {
        return length >= keptBy(in) / 2;
    }

    /**
     * Returns the capacity that a retained slice of {@code in} pins; {@code Integer.MAX_VALUE} for a composite, where
     * it is unknown.
     */
    static int keptBy(ByteBuf in) {
        ByteBuf root = in;
        for (ByteBuf next = in.unwrap(); next != null; next = next.unwrap()) {
            root = next;
        }
        return root instanceof CompositeByteBuf ? Integer.MAX_VALUE : root.capacity();
    }
}
