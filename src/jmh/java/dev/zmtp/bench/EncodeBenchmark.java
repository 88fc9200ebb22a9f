package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * What it takes to write a message, without a socket: the time and, with {@code -prof gc}, the bytes allocated for
 * each.
 *
 * <p>A batch of messages is written and flushed to a transport that takes all at once. The message is the same one each
 * time, retained: to make it is the application's work and is not measured.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsPrepend = {BenchmarkThreads.CUSTOM, BenchmarkThreads.CLASS, BenchmarkThreads.NO_LEAK_DETECTION})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class EncodeBenchmark {

    private static final int MESSAGES = 128;

    /** The promise of each write. */
    public enum Promises {
        /** The channel's void promise. */
        VOID,
        /** A new promise, as {@code write(message)} makes it. */
        REAL
    }

    /** What is written. */
    @Param
    Shape shape;

    /** The framing: ZMTP 1.0's, or that of all later versions. */
    @Param({"ZMTP10", "ZMTP31"})
    ZMTPVersion version;

    /** What the application writes. */
    @Param
    Api api;

    /** The promises of the writes. */
    @Param
    Promises promises;

    private final Network network = new Network();
    private final Application application = new Application();
    private ScriptedPeer connection;
    private ByteBuf bytes;
    private ZMTPMessage message;
    private long batchLength;

    /** Connects. */
    @Setup
    public void connect() {
        InTraffic setup = InTraffic.as(ZMTPSocketType.DEALER)
                .peer(ZMTPSocketType.ROUTER)
                .peer(version)
                .before(network)
                .after(application);
        if (api == Api.CUSTOM) {
            setup.set(codec -> codec.encoder(session -> new ShapeCodec.Encoder(bytes)));
        }
        int longest = shape.bodyLength();
        bytes = ByteBufAllocator.DEFAULT.directBuffer(longest).writeZero(longest);
        connection = setup.start();
        message = shape.message(connection.channel.alloc());
        batchLength = (long) MESSAGES * shape.wireLength(version);
        network.clear();
    }

    /** Writes a batch and flushes. One operation is one message. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long encode() {
        ChannelHandlerContext ctx = application.ctx;
        ChannelPromise shared = promises == Promises.VOID ? ctx.voidPromise() : null;
        for (int i = 0; i < MESSAGES; i++) {
            Object written = api == Api.CUSTOM ? shape : message.retain();
            ctx.write(written, shared == null ? ctx.newPromise() : shared);
        }
        ctx.flush();
        connection.channel.runPendingTasks(); // an event loop would: flushes wait for each other
        return network.take(batchLength);
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        connection.close();
        message.release();
        bytes.release();
        if (!connection.failures.isEmpty()) {
            throw new IllegalStateException("connection failed", connection.failures.get(0));
        }
    }

    /** The application handler: directly after the codec. */
    private static final class Application extends ChannelInboundHandlerAdapter {
        private ChannelHandlerContext ctx;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }
    }
}
