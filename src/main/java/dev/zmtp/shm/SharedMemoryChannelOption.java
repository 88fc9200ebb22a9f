package dev.zmtp.shm;

import io.netty.channel.ChannelOption;

/** The options that only shared memory has. */
public final class SharedMemoryChannelOption {

    /**
     * The bytes that fit into the ring of each direction: a power of two, 4 KiB to 256 MiB; 256 KiB by default. Of the
     * server's, given as a child option: it creates the file. A connection takes twice as much, whether or not it is
     * used.
     */
    public static final ChannelOption<Integer> RING_CAPACITY =
            ChannelOption.valueOf(SharedMemoryChannelOption.class, "RING_CAPACITY");

    /**
     * The microseconds for which the event loop looks for more, without sleeping, after something has moved: 50 by
     * default, 0 for never, {@code Integer.MAX_VALUE} for always. Until then the other side needs no system call to
     * reach this one. A loop that spins takes its core, and its other channels wait no longer than usual.
     */
    public static final ChannelOption<Integer> SPIN_MICROS =
            ChannelOption.valueOf(SharedMemoryChannelOption.class, "SPIN_MICROS");

    private SharedMemoryChannelOption() {}
}
