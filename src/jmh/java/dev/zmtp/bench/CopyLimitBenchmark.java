package dev.zmtp.bench;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.wire.FrameWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * From what size on is it better to send a body by reference than to copy it into the batch? One operation sends 1 MiB
 * of frames with bodies of one size over a loopback socket to a peer that only reads bytes.
 *
 * <p>It does what the codec does in either case, without the codec, so that both are measured for each size.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class CopyLimitBenchmark {

    private static final int BYTES = 1 << 20;
    private static final int BATCH = 64 << 10;
    private static final FrameWriter WRITER = new FrameWriter(ZMTPVersion.ZMTP31);

    /** The length of a body in bytes. */
    @Param({"512", "1024", "2048", "4096", "8192", "16384", "32768"})
    int size;

    /** How bodies are sent. */
    public enum Policy {
        /** Each body is copied into a batch. */
        COPIED,
        /** Each body goes to the transport itself, after a header of its own. */
        REFERENCED
    }

    /** How bodies are sent. */
    @Param({"COPIED", "REFERENCED"})
    Policy policy;

    private final Progress progress = new Progress();
    private LoopbackConnection connection;
    private Channel client;
    private ByteBuf body;
    private long sent;

    /** Connects, shakes hands, and takes the codecs out of both pipelines. */
    @Setup
    public void connect() throws Exception {
        connection = LoopbackConnection.open(
                SocketTransport.NIO,
                progress,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.PUSH), new ChannelInboundHandlerAdapter()),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.PULL), new Reader()));
        client = connection.client();
        client.eventLoop()
                .submit(() -> client.pipeline().remove(ZMTPCodec.class))
                .sync();
        body = PooledByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size);
    }

    /** Sends 1 MiB and waits until the transport has taken it. */
    @Benchmark
    public void mebibyte() throws Exception {
        client.eventLoop().submit(this::write).get().sync();
        sent += (BYTES + size - 1L) / size * WRITER.frameLength(size);
    }

    private ChannelFuture write() {
        return policy == Policy.COPIED ? writeCopied() : writeReferenced();
    }

    private ChannelFuture writeCopied() {
        int frame = WRITER.frameLength(size);
        ByteBuf batch = client.alloc().ioBuffer(BATCH);
        for (int written = 0; written < BYTES; written += size) {
            if (batch.writableBytes() < frame) {
                client.write(batch, client.voidPromise());
                batch = client.alloc().ioBuffer(BATCH);
            }
            WRITER.write(batch, 0, body);
        }
        return client.writeAndFlush(batch);
    }

    private ChannelFuture writeReferenced() {
        for (int written = size; written < BYTES; written += size) {
            writeHeader();
            client.write(body.retainedDuplicate(), client.voidPromise());
        }
        writeHeader();
        return client.writeAndFlush(body.retainedDuplicate());
    }

    private void writeHeader() {
        ByteBuf header = client.alloc().ioBuffer(WRITER.headerLength(size));
        WRITER.writeHeader(header, 0, size);
        client.write(header, client.voidPromise());
    }

    /** Closes everything, when every byte has arrived. */
    @TearDown
    public void close() {
        try {
            progress.awaitExactly(sent);
        } finally {
            connection.close();
            body.release();
        }
    }

    /** Takes the codec out of its pipeline, counts bytes and drops them. */
    private final class Reader extends ChannelInboundHandlerAdapter {
        private long bytes;

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess) {
                ctx.pipeline().remove(ZMTPCodec.class);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf read = (ByteBuf) msg;
            bytes += read.readableBytes();
            read.release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            progress.reach(bytes);
        }
    }
}
