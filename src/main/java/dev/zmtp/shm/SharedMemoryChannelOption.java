package dev.zmtp.shm;

import io.netty.channel.ChannelOption;

/** Options that are specific to shared memory. */
public final class SharedMemoryChannelOption {

    /**
     * Capacity of the ring of each direction, in bytes. A power of two from 4 KiB to 256 MiB, by default 256 KiB. Set
     * it as a child option of the server, which creates the file. A connection uses twice as much memory, even if it is
     * idle.
     */
    public static final ChannelOption<Integer> RING_CAPACITY =
            ChannelOption.valueOf(SharedMemoryChannelOption.class, "RING_CAPACITY");

    /**
     * Maximum time in microseconds for which the event loop looks for more data without sleeping, after data has moved.
     * 50 by default, 0 for never, {@code Integer.MAX_VALUE} for always. During this time the other side can reach this
     * side without a system call. A spinning loop occupies its core, but does not delay its other channels more than
     * usual.
     */
    public static final ChannelOption<Integer> SPIN_MICROS =
            ChannelOption.valueOf(SharedMemoryChannelOption.class, "SPIN_MICROS");

    private SharedMemoryChannelOption() {}
}
