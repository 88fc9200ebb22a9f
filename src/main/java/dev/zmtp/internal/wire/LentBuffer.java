package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The part of a buffer that the transport was given for one read, and how it is known when it comes back.
 *
 * <p>What is lent is a slice of its own that no pool uses again: an object that comes back is either this one or
 * another buffer, whatever has become of the read. It holds the reference that the transport releases.
 */
final class LentBuffer {

    /** The longest read. */
    private static final int MAX_READ = 1 << 20;

    private @Nullable ByteBuf slice;
    private @Nullable ByteBuf buffer;

    /** Returns the free part of {@code buffer} from {@code index} on. A reference to {@code buffer} goes with it. */
    ByteBuf lend(ByteBuf buffer, int index) {
        ByteBuf free = buffer.slice(index, Math.min(MAX_READ, buffer.capacity() - index));
        this.buffer = buffer;
        slice = free.writerIndex(0);
        return slice;
    }

    /**
     * Returns the buffer of which {@code in} is the part that was lent; or null if {@code in} is another, or some of it
     * was taken.
     */
    @Nullable
    @SuppressWarnings("ReferenceEquality") // the object, not what is in it
    ByteBuf takeBack(ByteBuf in) {
        ByteBuf lender = in == slice && in.readerIndex() == 0 ? buffer : null;
        forget();
        return lender;
    }

    /** What was lent is the transport's alone. */
    void forget() {
        slice = null;
        buffer = null;
    }
}
