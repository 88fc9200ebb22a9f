package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
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
 * From what size on is it better to send a body by reference than to copy it into the batch? One operation sends 1 MiB of
 * bodies of one size over a loopback socket to a peer that only reads bytes.
 *
 * <p>Compare two values of the system property: {@code -jvmArgsAppend -Ddev.zmtp.copyLimit=0} sends every body by
 * reference, {@code =65536} copies every one of these.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class CopyLimitBenchmark {

    private static final int BYTES = 1 << 20;

    /** The bytes of a body. */
    @Param({"512", "1024", "2048", "4096", "8192", "16384", "32768"})
    int size;

    private final Progress progress = new Progress();
    private LoopbackConnection connection;
    private Channel client;
    private ByteBuf body;
    private long sent;

    /** Connects, shakes hands, and takes the codec out of the reader. */
    @Setup
    public void connect() throws Exception {
        connection = LoopbackConnection.open(
                SocketTransport.NIO,
                progress,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.PUSH), new ChannelInboundHandlerAdapter()),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.PULL), new Reader()));
        client = connection.client();
        body = PooledByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size);
    }

    /** Sends 1 MiB and waits until the transport has taken it. */
    @Benchmark
    public void mebibyte() throws Exception {
        client.eventLoop().submit(this::write).get().sync();
        sent += (BYTES + size - 1L) / size * (ZMTPVersion.ZMTP31.framing().headerLengthFor(size) + size);
    }

    private ChannelFuture write() {
        for (int written = size; written < BYTES; written += size) {
            client.write(message(), client.voidPromise());
        }
        return client.writeAndFlush(message());
    }

    private ZMTPMessage message() {
        return ZMTPMessage.from(body.retainedDuplicate());
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
