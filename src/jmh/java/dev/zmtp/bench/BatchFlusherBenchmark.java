package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
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
 * What it matters when an application flushes: requests a second, with one frame of 100 octets and a number outstanding.
 *
 * <p>The DEALER flushes by the policy that is measured, the ROUTER always at the end of a read.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class BatchFlusherBenchmark {

    private static final int REQUESTS = 4096;
    private static final int SIZE = 100;

    /** Whole batches, or the policy that flushes by hand would wait for replies to what it has not flushed. */
    private static final int OUTSTANDING = 8 * Flushes.BATCH;

    /** When the DEALER flushes. */
    @Param
    FlushPolicy policy;

    /** The transport. */
    @Param("NIO")
    SocketTransport transport;

    private final Progress progress = new Progress();
    private ZMTPMessage request;
    private Requester requester;
    private LoopbackConnection connection;
    private Flushes outside;
    private long sentOutside;
    private long awaited;

    /** Connects and starts to ask, unless it is this thread that shall. */
    @Setup
    public void connect() throws Exception {
        request = ZMTPMessage.from(ByteBufAllocator.DEFAULT.directBuffer(SIZE).writeZero(SIZE));
        requester = new Requester(policy, progress, request::retain, BatchFlusherBenchmark::take);
        connection = LoopbackConnection.open(
                transport,
                progress,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.DEALER), requester),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.ROUTER), new EchoHandler(FlushPolicy.READ)));
        outside = new Flushes(policy, connection.client());
        if (policy != FlushPolicy.FLUSHER_OUTSIDE) {
            requester.start(OUTSTANDING);
        }
    }

    private static void take(Object msg) {
        ZMTPMessage reply = (ZMTPMessage) msg;
        long octets = reply.readableBytes();
        reply.release();
        if (octets != SIZE) {
            throw new IllegalStateException("octets received: " + octets + " (expected: " + SIZE + ")");
        }
    }

    /** What arrived between iterations belongs to none. */
    @Setup(Level.Iteration)
    public void start() {
        awaited = progress.count();
    }

    /** Waits for replies, or asks from this thread. One operation is one request. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void requests() {
        if (policy == FlushPolicy.FLUSHER_OUTSIDE) {
            ask();
        } else {
            awaited += REQUESTS;
            progress.await(awaited);
        }
    }

    private void ask() {
        Channel channel = connection.client();
        for (int i = 0; i < REQUESTS; i++) {
            if (sentOutside - progress.count() >= OUTSTANDING) {
                progress.await(sentOutside - OUTSTANDING / 2); // not woken for each reply
            }
            channel.write(request.retain(), channel.voidPromise());
            sentOutside++;
            outside.written();
        }
    }

    /** Ends all, when every request was answered. */
    @TearDown
    public void close() throws Exception {
        if (connection == null) {
            return; // this machine has no such transport
        }
        try {
            progress.awaitExactly(requester.stop() + sentOutside);
        } finally {
            connection.close();
            request.release();
        }
    }
}
