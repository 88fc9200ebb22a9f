package dev.zmtp.internal.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the buffers that the transport reads into, if possible the buffer of the body itself, and stops its reads
 * while the {@link ReadLoop} is behind, so that the queue there stays small.
 *
 * <p>A transport reads several times in a row and checks after each read whether to continue. It does not continue once
 * half of the budget is used. A level-triggered transport still reads once in each iteration of the event loop, and
 * then receives a small buffer.
 */
public final class PacedReads implements MaxMessagesRecvByteBufAllocator {

    /**
     * The size of the transport's read buffer while anything is queued, unless the buffer can hold more frames than the
     * budget has.
     */
    private static final int SMALL_BUFFER = 256;

    private static final int SHORTEST_FRAME = 2;

    /**
     * Limits the bytes of consecutive reads to this many times the usual read, so that large reads do not starve other
     * channels.
     */
    private static final int READS_IN_A_ROW = 16;

    private final ChannelConfig config;
    private final RecvByteBufAllocator allocator;

    /** True if the transport reads with a handle of this allocator. */
    private boolean asked;

    /** Null once the codec was removed. The transport keeps its handle, which then has no effect on reads. */
    private @Nullable ReadLoop reads;

    private PacedReads(ChannelConfig config) {
        this.config = config;
        this.allocator = config.getRecvByteBufAllocator();
    }

    /**
     * Paces the reads of a channel that has not read yet, or that has read with an earlier codec, which is replaced.
     */
    static PacedReads install(ChannelConfig config, ReadLoop reads) {
        PacedReads paced;
        if (config.getRecvByteBufAllocator() instanceof PacedReads present && present.config == config) {
            paced = present;
        } else {
            paced = new PacedReads(config);
            config.setRecvByteBufAllocator(paced);
        }
        paced.reads = reads;
        return paced;
    }

    /** Reverts {@link #install}, unless another codec already paces the reads, or the channel has another allocator. */
    void uninstall(ChannelConfig config, ReadLoop reads) {
        if (this.reads != reads) {
            return;
        }
        this.reads = null;
        if (config.getRecvByteBufAllocator() == this) {
            config.setRecvByteBufAllocator(allocator);
        }
    }

    /**
     * Returns whether the transport checks how much to read. The transport keeps the handle from before its first read,
     * which can be another allocator's. The creation of a handle proves nothing, because the epoll config creates a
     * handle to inspect it.
     */
    boolean isAsked() {
        return asked;
    }

    @Override
    @SuppressWarnings("deprecation") // of the interface, which most transports require
    public Handle newHandle() {
        Handle handle = allocator.newHandle();
        return handle instanceof ExtendedHandle extended ? new PacedHandle(extended) : handle;
    }

    @Override
    public int maxMessagesPerRead() {
        return allocator instanceof MaxMessagesRecvByteBufAllocator max ? max.maxMessagesPerRead() : 1;
    }

    @Override
    public MaxMessagesRecvByteBufAllocator maxMessagesPerRead(int maxMessagesPerRead) {
        if (allocator instanceof MaxMessagesRecvByteBufAllocator max) {
            max.maxMessagesPerRead(maxMessagesPerRead);
        }
        return this;
    }

    @SuppressWarnings("deprecation")
    private final class PacedHandle extends RecvByteBufAllocator.DelegatingHandle implements ExtendedHandle {

        private final ExtendedHandle handle;

        /** The number of bytes read since the transport began this row of reads. */
        private long row;

        private PacedHandle(ExtendedHandle handle) {
            super(handle);
            this.handle = handle;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            ReadLoop paced = reads;
            if (paced == null) {
                return handle.allocate(alloc);
            }
            if (paced.queuedBytes() > 0) {
                return alloc.ioBuffer((int) Math.min(SMALL_BUFFER, (long) SHORTEST_FRAME * paced.maxFramesPerRead()));
            }
            ByteBuf chosen = null;
            try {
                chosen = paced.nextRead(alloc, handle.guess());
            } catch (OutOfMemoryError e) {
                // There can be memory for a shorter read. If not, the transport reports that.
            }
            return chosen == null ? handle.allocate(alloc) : chosen;
        }

        @Override
        public void reset(ChannelConfig config) {
            row = 0;
            asked = true;
            handle.reset(config);
        }

        @Override
        public void lastBytesRead(int bytes) {
            row += Math.max(0, bytes);
            handle.lastBytesRead(bytes);
        }

        @Override
        public boolean continueReading() {
            return mayReadOn() && handle.continueReading();
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMoreDataSupplier) {
            return mayReadOn() && handle.continueReading(maybeMoreDataSupplier);
        }

        private boolean mayReadOn() {
            ReadLoop paced = reads;
            return paced == null
                    || (paced.mayReadOn()
                            && row < (long) Math.max(READS_IN_A_ROW, maxMessagesPerRead()) * handle.guess());
        }
    }
}
