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
import io.netty.channel.ChannelPipeline;
import java.util.ArrayList;
import java.util.List;
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
 * What it takes to receive a message, without a socket: the time and, with {@code -prof gc}, the bytes allocated for
 * each.
 *
 * <p>Bytes arrive in reads of 64 KiB, cut wherever that cuts them, and each message is released as soon as it is fired.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsPrepend = {BenchmarkThreads.CUSTOM, BenchmarkThreads.CLASS, BenchmarkThreads.NO_LEAK_DETECTION})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class DecodeBenchmark {

    private static final int MESSAGES = 512;
    private static final int READ = 64 << 10;

    /** How much is prepared at most, unless one message is longer. */
    private static final int PREPARED = 1 << 20;

    /** What arrives. */
    @Param
    Shape shape;

    /** The framing: ZMTP 1.0's, or that of all later versions. */
    @Param({"ZMTP10", "ZMTP31"})
    ZMTPVersion version;

    /** What the application receives. */
    @Param
    Api api;

    private final Application application = new Application();
    private final List<ByteBuf> reads = new ArrayList<>();
    private int rounds;
    private ScriptedPeer connection;

    /** Connects, and prepares what arrives. */
    @Setup
    public void connect() {
        InTraffic setup = InTraffic.as(ZMTPSocketType.ROUTER)
                .peer(ZMTPSocketType.DEALER)
                .peer(version)
                .after(application);
        if (api == Api.CUSTOM) {
            setup.set(codec -> codec.decoder(session -> new ShapeCodec.Decoder(shape)));
        }
        connection = setup.start();
        int messages = Math.max(1, Math.min(MESSAGES, PREPARED / shape.bodyLength()));
        messages = Integer.highestOneBit(messages); // a power of two, so that whole rounds make up MESSAGES
        rounds = MESSAGES / messages;
        prepare(messages, connection.channel.alloc());
    }

    private void prepare(int messages, ByteBufAllocator alloc) {
        ZMTPMessage message = shape.message(alloc);
        ByteBuf stream = alloc.directBuffer(messages * shape.wireLength(version));
        for (int i = 0; i < messages; i++) {
            message.write(stream, version);
        }
        message.release();
        while (stream.isReadable()) {
            reads.add(alloc.directBuffer(READ, READ).writeBytes(stream, Math.min(READ, stream.readableBytes())));
        }
        stream.release();
    }

    /**
     * Lets messages arrive. One operation is one message.
     *
     * <p>The read buffers are what a transport gives to the codec: whole buffers of the allocator, not slices or
     * duplicates, since a message retains slices of them, and what such a slice costs depends on what it is a slice of.
     * They are filled once and read again and again, so that nothing is measured of how bytes come into them.
     */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public int decode() {
        ChannelPipeline pipeline = connection.channel.pipeline();
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < reads.size(); i++) {
                pipeline.fireChannelRead(reads.get(i).readerIndex(0).retain());
                pipeline.fireChannelReadComplete();
            }
        }
        while (connection.channel.hasPendingTasks()) { // a read of many frames is more than a turn
            connection.channel.runPendingTasks();
        }
        return application.take(MESSAGES, MESSAGES * shape.size());
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        connection.close();
        for (ByteBuf read : reads) {
            if (read.refCnt() != 1) {
                throw new IllegalStateException("references to a read buffer: " + read.refCnt() + " (expected: 1)");
            }
            read.release();
        }
        if (!connection.failures.isEmpty()) {
            throw new IllegalStateException("connection failed", connection.failures.get(0));
        }
    }

    /** Counts what is received, and releases it. */
    private static final class Application extends ChannelInboundHandlerAdapter {
        private int messages;
        private int frames;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            messages++;
            if (msg instanceof ZMTPMessage message) {
                frames += message.size();
                message.release();
            } else {
                frames += ((Shape) msg).size();
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            // Nothing was written, so there is nothing to flush.
        }

        int take(int expectedMessages, int expectedFrames) {
            if (messages != expectedMessages || frames != expectedFrames) {
                throw new IllegalStateException(messages + " messages of " + frames + " frames received (expected: "
                        + expectedMessages + " of " + expectedFrames + ")");
            }
            messages = 0;
            frames = 0;
            return expectedMessages;
        }
    }
}
