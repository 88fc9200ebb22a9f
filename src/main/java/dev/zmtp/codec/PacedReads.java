package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;

/**
 * Chooses the buffers that the transport reads into, a body's own where it can, and has it read no further while the
 * {@link ReadLoop} is behind, so that what waits there stays small.
 *
 * <p>A transport reads several times in a row and asks after each whether to go on; the answer is no once half of the
 * turn is used. A level-triggered transport still reads once in each iteration of the event loop, and then gets a small
 * buffer.
 */
final class PacedReads implements MaxMessagesRecvByteBufAllocator {

    /** What the transport reads into while anything waits. */
    private static final int SMALL_BUFFER = 256;

    /**
     * Caps the bytes of consecutive reads at what this many usual reads return, so that large reads do not starve other
     * channels.
     */
    private static final int READS_IN_A_ROW = 16;

    private final RecvByteBufAllocator allocator;
    private final ReadLoop reads;

    private PacedReads(RecvByteBufAllocator allocator, ReadLoop reads) {
        this.allocator = allocator;
        this.reads = reads;
    }

    /** Paces the reads of a channel that has not read yet. */
    static void install(ChannelConfig config, ReadLoop reads) {
        RecvByteBufAllocator allocator = config.getRecvByteBufAllocator();
        config.setRecvByteBufAllocator(new PacedReads(allocator, reads));
    }

    /** Undoes {@link #install}. */
    static void uninstall(ChannelConfig config) {
        if (config.getRecvByteBufAllocator() instanceof PacedReads paced) {
            config.setRecvByteBufAllocator(paced.allocator);
        }
    }

    @Override
    @SuppressWarnings("deprecation") // of the interface; most transports want this kind
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

        /** The bytes that were read since the transport began this row of reads. */
        private long row;

        private PacedHandle(ExtendedHandle handle) {
            super(handle);
            this.handle = handle;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator alloc) {
            if (reads.queuedBytes() > 0) {
                return alloc.ioBuffer(SMALL_BUFFER);
            }
            ByteBuf chosen = null;
            try {
                chosen = reads.nextRead(alloc, handle.guess());
            } catch (OutOfMemoryError e) {
                // There may be memory for a shorter read. If not, the transport reports that.
            }
            return chosen == null ? handle.allocate(alloc) : chosen;
        }

        @Override
        public void reset(ChannelConfig config) {
            row = 0;
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
            return reads.mayReadOn() && row < (long) Math.max(READS_IN_A_ROW, maxMessagesPerRead()) * handle.guess();
        }
    }
}
