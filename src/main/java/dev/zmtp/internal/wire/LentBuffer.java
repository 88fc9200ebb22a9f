package dev.zmtp.internal.wire;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The part of a buffer that was lent to the transport for a read, and the check for its return.
 *
 * <p>The lent object is a separate slice that no pool reuses. A returned object is therefore either this slice or
 * another buffer, regardless of the result of the read. The slice holds the reference that the transport releases.
 */
final class LentBuffer {

    /** Maximum length of a read. */
    private static final int MAX_READ = 1 << 20;

    private @Nullable ByteBuf slice;
    private @Nullable ByteBuf buffer;

    /** Returns the free part of {@code buffer} from {@code index} on, and transfers a reference to {@code buffer}. */
    ByteBuf lend(ByteBuf buffer, int index) {
        ByteBuf free = buffer.slice(index, Math.min(MAX_READ, buffer.capacity() - index));
        this.buffer = buffer;
        slice = free.writerIndex(0);
        return slice;
    }

    /**
     * Returns the buffer whose lent part is {@code in}; or null if {@code in} is another buffer, or a part of it was
     * read.
     */
    @Nullable
    @SuppressWarnings("ReferenceEquality") // compares the objects, regardless of their content
    ByteBuf takeBack(ByteBuf in) {
        ByteBuf lender = in == slice && in.readerIndex() == 0 ? buffer : null;
        forget();
        return lender;
    }

    /** Forgets the lent part, which the transport now owns alone. */
    void forget() {
        slice = null;
        buffer = null;
    }
}
