package dev.zmtp.compare;

/** The sentences of the report that do not depend on what was measured. */
final class ReportText {

    static final String FIRST = """
            # Benchmarks

            netty-zmtp beside its predecessor and other ZeroMQ libraries: messages or requests per second, latencies, and memory. This page is generated from what one run measured.

            """;

    static final String LEGEND = """

            Each figure is a median. *n* × says how many times better netty-zmtp is: more messages per second, less time, less memory. **Bold** is ahead of netty-zmtp. ≈ means that the ranges of the rounds overlap, so neither is ahead. netty4-zmtp and JeroMQ are compared with netty-zmtp on nio and libzmq on epoll, or with the transport that was measured.

            On a shared machine, such as a virtual one, the figures of a row can change by a factor of up to 1.5 from one round to the next. Smaller differences between two libraries say little. In the picture, raw-netty is Netty without a codec: the ceiling.
            """;

    /** With the number of rounds and the times of each run. */
    static final String MEASURED = """

            ## How it was measured

            Each end is a process of its own with one event loop or application thread, both on this machine, over TCP on 127.0.0.1; each peer ran %s times (%s), in another order each time. The figures on this page are medians. The [tables of all figures](docs/benchmarks/figures.md) add the range from the least to the greatest. No ratio is given where two ranges overlap.
            """;

    static final String RUN = """

            ## Run it yourself

            On Linux with JDK 17 or later, Maven, gcc and libzmq's header (Debian: `gcc`, `libzmq3-dev`):

            ```sh
            mvn -q -Pcompare test-compile exec:exec@compare                                                          # under four minutes
            mvn -q -Pcompare test-compile exec:exec@compare -Dcompare.args="--profile full --rounds 3 --output ."    # about 55 minutes: this page
            ```

            The first writes into `target/compare/report`. `-Dcompare.args=--help` lists the options; `--report-only docs/benchmarks/results.json --output .` writes these pages again without measuring.
            """;

    static final String BEHIND = """
            # Where another library is ahead

            All rows of netty4-zmtp, JeroMQ and libzmq that are ahead of netty-zmtp on the same transport by the medians, even where the ranges overlap. The program finds them; none is chosen or left out.

            """;

    static final String GOALS = """
            # Goals

            Each goal is checked against the medians, even where the ranges overlap and the ratio says little. The sizes of the application's own objects in the custom codec are those of a 64-bit HotSpot JVM with compressed pointers.

            """;

    static final String FIGURES = """
            # All figures

            Each figure is the median of the rounds, with the least and the greatest in parentheses. A ratio is given only where the ranges of the two rows do not overlap. The last column of a table compares each peer with netty-zmtp on the same transport, which is named in parentheses (JeroMQ counts as nio, libzmq as epoll): above 1, netty-zmtp is ahead. raw-netty is Netty without a codec: the ceiling, not a rival. The pictures show the medians, and the ranges as vertical lines. [Method](method.md) explains the columns.

            """;

    static final String METHOD = """
            # Method

            In each round every peer runs once in every cell, in newly started processes, and each round starts with another peer. Each run has a warm-up that is not measured.

            **Same host, loopback.** Sender and receiver share the machine, its caches and its cores, and there is no network between them. CPU time that one end saves is time the other end gets. Do not compare absolute figures of two machines.

            **One thread.** Each end has one thread or event loop and sets TCP_NODELAY. Everything else is the default of the library: high-water marks, buffer pools, batching. JeroMQ and libzmq have an I/O thread besides the application's thread.

            **One payload.** Where the same message is sent many times, each library shares its content if that is faster: netty-zmtp and netty4-zmtp retain it, JeroMQ wraps one array, libzmq copies a `zmq_msg_t` by reference from 34 bytes on.

            **raw-netty** moves the same bytes without a codec. They are prepared in advance, and only counted on arrival where that is possible. It sends blocks of 64 KiB with one flush each. Codecs flush after 128 messages, as an application would: with messages of 100 bytes that is every 12 KiB, which takes more system calls. *raw-netty ..., 128 a flush* sends blocks of 128 messages: the ceiling with the same batching. Codecs also flush when they have 64 KiB, so larger messages need no such row.

            **Closed loops.** In a round trip the next request waits for the reply. A stall is therefore one slow sample, and not the many that would have been sent meanwhile. Requests in flight are a closed loop, too.

            **Open loops.** Messages are sent by a schedule, and latency counts from the time at which a message should have been sent (no coordinated omission). "Late" is the share that was sent more than 1 ms after that time. What a cold start could not send in time is dropped before the end of the warm-up.

            **Percent of the peer's own maximum.** The maximum is what arrived in the same round when only back pressure limited the sender. It is a different rate for each peer: these tables show how a peer behaves near its own limit, not which peer is faster.

            **CPU seconds** are user and system time of each process; in tables of latencies, and where both ends are in one process, of all processes. The end that takes more is the bottleneck. Threads of the garbage collector and the compiler count, too.

            **Allocated bytes** are those on the Java heap of a whole process, divided by the messages. **Peak RSS** (VmHWM) of a JVM is mostly the touched part of its fixed heap of 1 GiB.

            **Idle connections** are measured at the accepting end, relative to the same process before the first connection: bytes in use after a garbage collection, and resident memory at that time (VmRSS, not the peak), which in a JVM includes heap that was touched and is free again. The CPU time excludes that collection.

            **Warm-up.** After a few seconds a JVM is warm, but not fully optimized.

            ## Environment

            """;

    private ReportText() {}
}
