package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * How much it matters when an application flushes: requests a second, with one frame of 100 bytes and a number
 * outstanding.
 *
 * <p>The DEALER flushes by the policy that is measured, the ROUTER always at the end of a read.
 */
public class BatchFlusherBenchmark extends LoopbackBenchmark {

    private static final int REQUESTS = 4096;
    private static final int SIZE = 100;

    /**
     * Whole batches: otherwise the policy that flushes by hand would wait for replies to requests that it has not
     * flushed.
     */
    private static final int OUTSTANDING = 8 * Flushes.BATCH;

    /** When the DEALER flushes. */
    @Param
    FlushPolicy policy;

    /** The transport. */
    @Param("NIO")
    SocketTransport transport;

    private ZMTPMessage request;
    private Requester requester;
    private Flushes outside;
    private long sentOutside;

    /** Connects and starts to ask, unless the thread of the benchmark asks. */
    @Setup
    public void connect() throws Exception {
        request = ZMTPMessage.from(ByteBufAllocator.DEFAULT.directBuffer(SIZE).writeZero(SIZE));
        requester = new Requester(policy, progress, request::retain, BatchFlusherBenchmark::take);
        open(
                transport,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.DEALER), requester),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.ROUTER), new EchoHandler(FlushPolicy.READ)));
        outside = new Flushes(policy, connection().client());
        if (policy != FlushPolicy.FLUSHER_OUTSIDE) {
            requester.start(OUTSTANDING);
        }
    }

    private static void take(Object msg) {
        ZMTPMessage reply = (ZMTPMessage) msg;
        long bytes = reply.readableBytes();
        reply.release();
        if (bytes != SIZE) {
            throw new IllegalStateException("bytes received: " + bytes + " (expected: " + SIZE + ")");
        }
    }

    /** Waits for replies, or asks from this thread. One operation is one request. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void requests() {
        if (policy == FlushPolicy.FLUSHER_OUTSIDE) {
            ask();
        } else {
            awaitMore(REQUESTS);
        }
    }

    private void ask() {
        Channel channel = connection().client();
        for (int i = 0; i < REQUESTS; i++) {
            if (sentOutside - progress.count() >= OUTSTANDING) {
                progress.await(sentOutside - OUTSTANDING / 2); // not woken for each reply
            }
            channel.write(request.retain(), channel.voidPromise());
            sentOutside++;
            outside.written();
        }
    }

    @Override
    long stop() throws Exception {
        return requester.stop() + sentOutside;
    }

    @Override
    void release() {
        request.release();
    }
}
