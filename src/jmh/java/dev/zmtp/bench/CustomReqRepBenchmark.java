package dev.zmtp.bench;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * As {@link ReqRepBenchmark}, with requests and replies that are written and read by an encoder and a decoder.
 *
 * <p>Each is a {@link Call} with an id of its own, made anew on both sides: what is allocated is the application's as
 * well.
 */
public class CustomReqRepBenchmark extends LoopbackBenchmark {

    private static final int REQUESTS = 4096;
    private static final String URI = "zmtp://example/benchmark/call";
    private static final String METHOD = "GET";

    /** The transport. */
    @Param
    SocketTransport transport;

    /** How many requests wait for their reply. */
    @Param("1000")
    int outstanding;

    private final Requester requester = new Requester(FlushPolicy.FLUSHER, progress, this::request, this::take);
    private long asked;
    private long answered;

    /** Connects and starts to ask. */
    @Setup
    public void connect() throws Exception {
        open(
                transport,
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
    void release() {}
}
