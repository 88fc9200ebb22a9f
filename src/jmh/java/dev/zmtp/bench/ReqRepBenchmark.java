package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
 * How many requests a second a ROUTER answers to a DEALER over a loopback socket, one event loop each.
 *
 * <p>A request has two envelopes, a delimiter and three arguments; the reply is the request. There are always as many
 * outstanding, and each side flushes by a {@code BatchFlusher}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class ReqRepBenchmark {

    private static final int REQUESTS = 4096;
    private static final int[] FRAMES = {9, 9, 0, 20, 40, 100};

    /** The transport. */
    @Param
    SocketTransport transport;

    /** How many requests wait for their reply. */
    @Param("1000")
    int outstanding;

    private final Progress progress = new Progress();
    private final Requester requester =
            new Requester(FlushPolicy.FLUSHER, progress, this::request, ReqRepBenchmark::take);
    private ZMTPMessage request;
    private LoopbackConnection connection;
    private long awaited;

    /** Connects and starts to ask. */
    @Setup
    public void connect() throws Exception {
        List<ByteBuf> frames = Arrays.stream(FRAMES)
                .mapToObj(length -> ByteBufAllocator.DEFAULT
                        .directBuffer(Math.max(1, length))
                        .writeZero(length))
                .collect(Collectors.toList());
        request = ZMTPMessage.from(frames);
        connection = LoopbackConnection.open(
                transport,
                progress,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.DEALER), requester),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.ROUTER), new EchoHandler(FlushPolicy.FLUSHER)));
        requester.start(outstanding);
    }

    private ZMTPMessage request() {
        return request.retain();
    }

    private static void take(Object msg) {
        ZMTPMessage reply = (ZMTPMessage) msg;
        int frames = reply.size();
        int last = reply.frame(frames - 1).readableBytes();
        reply.release();
        if (frames != FRAMES.length || last != FRAMES[frames - 1]) {
            throw new IllegalStateException(
                    "reply: " + frames + " frames, the last of " + last + " octets (expected: the request)");
        }
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
            request.release();
        }
    }
}
