package dev.zmtp.compare;

/** A figure that one window yields; each is a number in the unit that its comment states. */
enum Metric {
    /** Messages, or completed round trips, in a second. */
    PER_SECOND,
    /** Seconds of CPU time, user and system, of all processes of the peer, for a million messages. */
    CPU_PER_MILLION,
    /** The part of {@link #CPU_PER_MILLION} that the process which sends or asks takes. */
    CPU_SENDING,
    /** The part of {@link #CPU_PER_MILLION} that the process which receives or answers takes. */
    CPU_RECEIVING,
    /** Bytes allocated on the Java heap for each message by the process that sends, asks, or is alone. */
    ALLOCATED_SENDING,
    /** Bytes allocated on the Java heap for each message by the process that receives or answers. */
    ALLOCATED_RECEIVING,
    /** Peak resident memory, in bytes, of the process that sends, asks, or is alone. */
    RSS_SENDING,
    /** Peak resident memory, in bytes, of the process that receives or answers. */
    RSS_RECEIVING,
    /** Latency in nanoseconds that half of the round trips do not exceed. */
    P50,
    /** As {@link #P50}, of 90 % of the round trips. */
    P90,
    /** As {@link #P50}, of 99 % of the round trips. */
    P99,
    /** As {@link #P50}, of 99.9 % of the round trips. */
    P99_9,
    /** As {@link #P50}, of 99.99 % of the round trips. */
    P99_99,
    /** The longest round trip in nanoseconds. */
    MAX,
    /** The share, 0 to 1, of the messages that were sent more than 1 ms after their intended time. */
    LATE,
    /** The share, 0 to 1, of what a publisher sent its subscribers that they did not get. */
    DROPPED,
    /** The rate, in messages a second, that an open loop was asked to send. */
    INTENDED_RATE,
    /** Bytes of the Java heap of the accepting process for each connection. */
    HEAP_PER_CONNECTION,
    /** Bytes of direct memory of the accepting process for each connection. */
    DIRECT_PER_CONNECTION,
    /** Bytes of the accepting process that are resident now, not at the peak, for each connection. */
    RSS_PER_CONNECTION,
    /** The share of one core that the accepting process takes while nothing is sent. */
    IDLE_CPU,
    /** The share of one core that the processes of all other peers of the cell took, which were paused. */
    CPU_OF_PAUSED;

    /** Whether a greater value is the better one. */
    boolean isMoreBetter() {
        return this == PER_SECOND;
    }
}
