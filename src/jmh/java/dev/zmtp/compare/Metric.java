package dev.zmtp.compare;

/** A figure that one run yields; each is a number in the unit that its comment states. */
enum Metric {
    /** Messages, or completed round trips, in a second. */
    PER_SECOND,
    /** Seconds of CPU time, user and system, of all processes of the run, for a million messages. */
    CPU_PER_MILLION,
    /** The part of {@link #CPU_PER_MILLION} that the process which sends or asks takes. */
    CPU_SENDING,
    /** The part of {@link #CPU_PER_MILLION} that the process which receives or answers takes. */
    CPU_RECEIVING,
    /** Octets allocated on the Java heap for each message by the process that sends, asks, or is alone. */
    ALLOCATED_SENDING,
    /** Octets allocated on the Java heap for each message by the process that receives or answers. */
    ALLOCATED_RECEIVING,
    /** Peak resident octets of the process that sends, asks, or is alone. */
    RSS_SENDING,
    /** Peak resident octets of the process that receives or answers. */
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
    /** The share, 0 to 1, of the messages that were sent more than 1 ms behind their intended time. */
    LATE,
    /** The rate, in messages a second, that an open loop was told to send. */
    INTENDED_RATE,
    /** Octets of the Java heap of the accepting process for each connection. */
    HEAP_PER_CONNECTION,
    /** Octets of direct memory of the accepting process for each connection. */
    DIRECT_PER_CONNECTION,
    /** Octets of the accepting process that are resident at that moment, not at the peak, for each connection. */
    RSS_PER_CONNECTION,
    /** The share of one core that the accepting process takes while nothing is sent. */
    IDLE_CPU
}
