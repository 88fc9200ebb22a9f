package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * How many requests a second a ROUTER answers to a DEALER over a loopback socket, one event loop each.
 *
 * <p>A request has two envelopes, a delimiter and three arguments; the reply is the request. There are always as many
 * outstanding, and each side flushes by a {@code BatchFlusher}.
 */
public class ReqRepBenchmark extends LoopbackBenchmark {

    private static final int REQUESTS = 4096;
    private static final int[] FRAMES = {9, 9, 0, 20, 40, 100};

    /** The transport. */
    @Param
    SocketTransport transport;

    /** How many requests wait for their reply. */
    @Param("1000")
    int outstanding;

    private final Requester requester =
            new Requester(FlushPolicy.FLUSHER, progress, this::request, ReqRepBenchmark::take);
    private ZMTPMessage request;

    /** Connects and starts to ask. */
    @Setup
    public void connect() throws Exception {
        List<ByteBuf> frames = Arrays.stream(FRAMES)
                .mapToObj(length -> ByteBufAllocator.DEFAULT
                        .directBuffer(Math.max(1, length))
                        .writeZero(length))
                .collect(Collectors.toList());
        request = ZMTPMessage.from(frames);
        open(
                transport,
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
                    "reply: " + frames + " frames, the last of " + last + " bytes (expected: the request)");
        }
    }

    /** Waits for replies. One operation is one request that was answered. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    public void requests() {
        awaitMore(REQUESTS);
    }

    @Override
    long stop() throws Exception {
        return requester.stop();
    }

    @Override
    void release() {
        request.release();
    }
}
