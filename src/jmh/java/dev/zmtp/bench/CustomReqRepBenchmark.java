package dev.zmtp.bench;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * As {@link ReqRepBenchmark}, with requests and replies that are written and read by an encoder and a decoder.
 *
 * <p>Each is a {@link Call} with an id of its own, made anew on both sides: what is allocated is the application's as well.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class CustomReqRepBenchmark {

    private static final int REQUESTS = 4096;
    private static final String URI = "zmtp://example/benchmark/call";
    private static final String METHOD = "GET";

    /** The transport. */
    @Param
    SocketTransport transport;

    /** How many requests wait for their reply. */
    @Param("1000")
    int outstanding;

    private final Progress progress = new Progress();
    private final Requester requester = new Requester(FlushPolicy.FLUSHER, progress, this::request, this::take);
    private long asked;
    private long answered;
    private LoopbackConnection connection;
    private long awaited;

    /** Connects and starts to ask. */
    @Setup
    public void connect() throws Exception {
        connection = LoopbackConnection.open(
                transport,
                progress,
                new LoopbackConnection.End(codec(ZMTPSocketType.DEALER), requester),
                new LoopbackConnection.End(codec(ZMTPSocketType.ROUTER), new EchoHandler(FlushPolicy.FLUSHER)));
        requester.start(outstanding);
    }

    private static ZMTPCodec codec(ZMTPSocketType type) {
        return ZMTPCodec.builder()
                .socketType(type)
                .encoder(session -> new Call.Encoder())
                .decoder(session -> new Call.Decoder())
                .build();
    }

    private Call request() {
        return new Call(0, asked++, URI, METHOD);
    }

    private void take(Object msg) {
        Call reply = (Call) msg;
        if (reply.low() != answered || !reply.uri().equals(URI)) {
            throw new IllegalStateException("reply: " + reply + " (expected: that to request " + answered + ")");
        }
        answered++;
    }

    /** What arrived between iterations belongs to none. */
    @Setup(Level.Iteration)
    public void start() {
        awaited = progress.count();
    }

    /** Waits for replies. One operation is one request that was answered. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void requests() {
        awaited += REQUESTS;
        progress.await(awaited);
    }

    /** Ends all, when every request was answered. */
    @TearDown
    public void close() throws Exception {
        if (connection == null) {
            return; // this machine has no such transport
        }
        try {
            progress.awaitExactly(requester.stop());
        } finally {
            connection.close();
        }
    }
}
