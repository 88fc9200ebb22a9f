package dev.zmtp.compare;

/** The sentences of the report that do not depend on what was measured. */
final class ReportText {

    static final String FIRST = """
            # Benchmarks

            netty-zmtp beside its predecessor and other ZeroMQ libraries: messages or requests per second, latencies, and memory. This page is generated from what one run measured.

            """;

    static final String LEGEND = """

            Each figure is a median; where windows failed, it says how many were measured. *n* × says how many times better netty-zmtp is: more messages per second, less time, less memory. **Bold** is ahead of netty-zmtp. ≈ means that neither is ahead for certain. netty4-zmtp and JeroMQ are compared with netty-zmtp on nio and libzmq on epoll, or with the transport that was measured.

            In this table netty-zmtp and netty4-zmtp are codecs in a pipeline. JeroMQ and libzmq are sockets, which also choose peers and queue messages for them. [All figures](docs/benchmarks/figures.md) has tables that compare sockets with sockets, from *PUSH to PULL* on.

            The speed of a shared machine, such as a virtual one, drifts by a factor of up to two within minutes. So the ratios are not those of the medians: each is the median of the ratios of neighboring windows. In the picture, raw-netty is Netty without a codec: the ceiling.
            """;

    /** With the number of windows, the time of one, and the CPU that paused programs took. */
    static final String MEASURED = """

            ## How it was measured

            Each end is a process of its own with one event loop or application thread, both on this machine, over TCP on 127.0.0.1. The programs of all peers of a table are started and warmed up, and stay up. Then they take turns: %s windows of %s each, while all others are stopped (SIGSTOP) and took %s of a core. A ratio is the median of the ratios of two windows of the same lap, with the interval in which the true median is with 95 %% confidence. The figures on this page are medians; the [tables of all figures](docs/benchmarks/figures.md) add quartiles and intervals.
            """;

    static final String RUN = """

            ## Run it yourself

            On Linux with JDK 17 or later, Maven, gcc and libzmq's header (Debian: `gcc`, `libzmq3-dev`); the rows of omq need cargo and Rust 1.93 or later:

            ```sh
            mvn -q -Pcompare test-compile exec:exec@compare                                                          # about ten minutes
            mvn -q -Pcompare test-compile exec:exec@compare -Dcompare.args="--profile full --output ."               # about two hours: this page
            ```

            The first writes into `target/compare/report`. `-Dcompare.args=--help` lists the options; `--report-only docs/benchmarks/results.jsonl --output .` writes these pages again without measuring. With the same options and `--resume`, a run that was interrupted goes on. With `--cell REGEX --add`, cells are measured again, or for the first time, and take their place in the report. `--baseline CLASSPATH` puts another build of netty-zmtp beside this one.

            To run the JMH benchmarks of throughput and of requests, which take half a minute each and need nothing but Maven:

            ```sh
            mvn test-compile exec:exec@jmh -Djmh.args="ThroughputBenchmark -p transport=NIO -p size=100"
            mvn test-compile exec:exec@jmh -Djmh.args="bench.ReqRepBenchmark -p transport=NIO"
            mvn -q test-compile exec:exec@jmh -Djmh.args=-l                                                          # lists all
            ```
            """;

    static final String BEHIND = """
            # Where another library is ahead

            All rows of netty4-zmtp, JeroMQ, libzmq and omq that are ahead of netty-zmtp on the same transport by the median of the ratios; ≈ where that is not certain. The program finds them; none is chosen or left out. It compares the main figures of each table: messages or requests per second, p50 and p99, or memory. The [tables of all figures](figures.md) have the others, such as CPU seconds.

            """;

    static final String GOALS = """
            # Goals

            Each goal is checked against the median of the ratios of neighboring windows. The sizes of the application's own objects in the custom codec are those of a 64-bit HotSpot JVM with compressed pointers.

            Goals that the least handlers, the ceiling for a codec on Netty, miss or only just reach are goals no more: over TCP 5 times the messages of libzmq, 6 times JeroMQ's, 4 times omq's and 2.2 times netty4-zmtp's (1.8 with Netty's defaults), through shared memory 2.5 times TCP's, and what was derived from these for requests with Netty's defaults, Unix domain sockets and sockets beside JeroMQ's.

            """;

    static final String FIGURES = """
            # All figures

            Each figure is the median of the windows, with the quartiles in parentheses. A ratio is the median of the ratios of neighboring windows, with its 95 % confidence interval; ≈ marks one whose interval includes 1. The last column of a table compares each peer with netty-zmtp on the same transport, which is named in parentheses (JeroMQ counts as nio, libzmq and omq as epoll): above 1, netty-zmtp is ahead. raw-netty is Netty without a codec: the ceiling, not a rival. The pictures show the medians, and the quartiles as vertical lines. [Method](method.md) explains the columns.

            """;

    static final String METHOD = """
            # Method

            The programs of all peers of a table are started one after the other, warmed up, and stopped where they are (SIGSTOP). Then they take turns, one window each in every lap, and each lap starts with another peer. Before a window, traffic flows for a tenth of a second that is not measured. Windows of one lap are seconds apart, so what slows the machine down for longer is not in the ratio of two of them. The interval of a ratio is that of the order statistics: it needs no assumption about the distribution, and six windows.

            **Same host, loopback.** Sender and receiver share the machine, its caches and its cores, and there is no network between them. CPU time that one end saves is time the other end gets. Do not compare absolute figures of two machines.

            **One thread.** Each end has one thread or event loop and sets TCP_NODELAY. Everything else is the default of the library: high-water marks, buffer pools, batching. Exceptions are few: a socket that connects queues nothing before its connection (ZMQ_IMMEDIATE), a ROUTER reports messages that it cannot send (ZMQ_ROUTER_MANDATORY), and JeroMQ has no receive high-water mark with CURVE and waits at most 0.5 s for a handshake. JeroMQ, libzmq and omq have an I/O thread besides the application's thread.

            **One payload.** Where the same message is sent many times, each library shares its content if that is faster: netty-zmtp and netty4-zmtp retain it, JeroMQ wraps one array, libzmq copies a `zmq_msg_t` by reference from 34 bytes on, omq clones a `Message`.

            **Tuned, and as it comes.** In most tables Netty's leak detection is off and writes use the void promise, in all libraries on Netty. Tables with *Netty's defaults and a promise each* show programs as most people write them. The allocator is always the default of the library's Netty.

            **least-handlers** is the least pair of handlers that can do the work of a codec: one writes headers of two bytes, copies the message into an open buffer and releases it, the other copies each body out and fires the same object again, or makes the application's own. It has no limits, no phases and no handshake: the ceiling for a codec on Netty. For requests it has the same flusher as netty-zmtp. One way it flushes after 128 messages as the codecs do; netty-zmtp joins flushes to 64 KiB, so *least-handlers ..., 640 a flush* is the ceiling with the same batching.

            **raw-netty** moves the same bytes without a codec. They are prepared in advance, and only counted on arrival where that is possible. It sends blocks of 64 KiB with one flush each. Codecs flush after 128 messages, as an application would: with messages of 100 bytes that is every 12 KiB, which takes more system calls. *raw-netty ..., 128 a flush* sends blocks of 128 messages: the ceiling with the same batching. Codecs also flush when they have 64 KiB, so larger messages need no such row. *raw-netty ..., keeping* puts each message together that it receives, in a buffer of its own.

            **Closed loops.** In a round trip the next request waits for the reply. A stall is therefore one slow sample, and not the many that would have been sent meanwhile. Requests in flight are a closed loop, too.

            **Open loops.** Messages are sent by a schedule, and latency counts from the time at which a message should have been sent (no coordinated omission). "Late" is the share that was sent more than 1 ms after that time. What a cold start could not send in time is dropped before the end of the warm-up. A sender never waits: while nothing is due, the event loop of a library on Netty looks for what has arrived, and the threads of JeroMQ and libzmq yield to their I/O threads.

            **From one process to the other.** Messages are sent by a schedule, and the end that receives them takes the time since each should have been sent. Both read `CLOCK_MONOTONIC`, which is one clock for all processes of a machine; to read it takes some 25 ns, and on a machine whose cores have clocks that differ, what they differ by is an error as well.

            **Aeron** is there as the least that two JVMs can do through memory that they share: messages without a protocol, on threads that never sleep. Its media driver has a thread of its own that is not on their way. **raw-ring** is the ring below the shared memory of this library, used by the application's own thread: no event loop, no buffers, no protocol.

            **Percent of the slowest peer's maximum.** The maximum is what arrived when only back pressure limited the sender. All peers of such a table are asked for the same rate: a share of the least of their maxima.

            **CPU seconds** are user and system time of each process; in tables of latencies, and where both ends are in one process, of all processes. The end that takes more is the bottleneck. Threads of the garbage collector and the compiler count, too.

            **Allocated bytes** are those on the Java heap of a whole process, divided by the messages. **Peak RSS** (VmHWM) of a JVM is mostly the touched part of its fixed heap of 1 GiB.

            **Sockets.** The tables from *PUSH to PULL* on compare *netty-zmtp sockets* with the sockets of libzmq and JeroMQ, which do the same: their ratios are those of *netty-zmtp sockets*. *netty-zmtp*, the codec alone in a pipeline, and *raw-netty* are ceilings there. A row without more in its name sends with `trySend` on the event loop while there is room, and takes messages with a handler. *by hand* asks and answers as a program with the other libraries does, with sends and a handler; the rows without it use `request` and `serve`, with an id, a timeout and a future for each request. *thread* sends from another thread, *futures* uses `sendAsync` and `receiveAsync`, at most 500 sends at a time, *blocking* is the plain program, with a thread for each socket that waits in `send` and `receive`, as those of JeroMQ and libzmq do, which have one thread for all sockets of an end and do not wait for a single socket if there are several; *request* waits in `request`, and *virtual threads* has a virtual thread for each request.

            **Requests of sockets** are correlated: `request` adds a frame with an id and an empty one, by which its answer is found, and has a timeout. libzmq and JeroMQ have no such thing: their DEALER sends the same frames without these two, and takes answers in the order in which they come. *to REP* has the requests answered by a REP instead of a ROUTER.

            **Publishers.** Each subscriber is a socket of its own with a connection of its own, all on one event loop, or on one thread that looks at them in turns. Messages are those that arrived at all subscribers. A publisher *that waits for all* sends no more while a subscriber's queue is full (`OverflowPolicy.WAIT`, XPUB_NODROP). One *that drops* sends as fast as it can, and "dropped" is the share of what it sent that did not arrive in the same window.

            **Within a process.** Messages go from one socket to the other without a copy of their bytes, each socket on its own event loop or, in *one loop*, both on one; JeroMQ and libzmq have a thread for each. Each message of JeroMQ is a new object around one array, each of netty-zmtp a new one around one buffer.

            **Few connections.** *netty-zmtp ..., 10 connections*, in a table of many connections, has ten.

            **Idle connections** are measured in newly started processes, six times, at the accepting end, relative to the same process before the first connection: bytes in use after a garbage collection, and resident memory at that time (VmRSS, not the peak), which in a JVM includes heap that was touched and is free again. The CPU time excludes that collection.

            **Warm-up.** It comes before the first window only. After some seconds a JVM is warm, but not fully optimized.

            ## Environment

            """;

    private ReportText() {}
}
