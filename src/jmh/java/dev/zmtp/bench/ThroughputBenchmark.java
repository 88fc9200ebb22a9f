package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
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
 * How many messages a second go from a DEALER to a ROUTER over a loopback socket, one event loop each.
 *
 * <p>The DEALER writes batches of messages, one flush for each batch, while the channel is writable. It does so without a
 * pause; an invocation waits for its share of what arrives. So the rate is that of messages received, and neither the start
 * of an invocation nor its end leaves the socket idle.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class ThroughputBenchmark {

    private static final int MESSAGES = 8192;

    /** The transport. */
    @Param
    SocketTransport transport;

    /** The octets of a message. */
    @Param({"100", "1000", "65536"})
    int size;

    private final Progress progress = new Progress();
    private final Sender sender = new Sender();
    private ZMTPMessage message;
    private LoopbackConnection connection;
    private long awaited;

    /** Connects and starts to send. */
    @Setup
    public void connect() throws Exception {
        message = ZMTPMessage.from(ByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size));
        connection = LoopbackConnection.open(
                transport,
                progress,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.DEALER), sender),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.ROUTER), new Receiver()));
        connection.client().eventLoop().execute(sender);
    }

    /** What arrived between iterations belongs to none. */
    @Setup(Level.Iteration)
    public void start() {
        awaited = progress.count();
    }

    /** Waits for messages. One operation is one message received. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public void messages() {
        awaited += MESSAGES;
        progress.await(awaited);
    }

    /** Ends all, when every message has arrived. */
    @TearDown
    public void close() throws Exception {
        if (connection == null) {
            return; // this machine has no such transport
        }
        try {
            progress.awaitExactly(
                    connection.client().eventLoop().submit(sender::stop).get());
        } finally {
            connection.close();
            message.release();
        }
    }

    /** Writes while the channel is writable. */
    private final class Sender extends ChannelInboundHandlerAdapter implements Runnable {
        private static final int BATCH = 128;
        /** After so many batches other tasks of the event loop get their turn. */
        private static final int BATCHES = 16;

        private ChannelHandlerContext ctx;
        private long sent;
        private boolean sending;
        private boolean stopped;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            run();
        }

        @Override
        public void run() {
            if (sending) {
                return; // called by a flush of our own, behind which we go on
            }
            sending = true;
            for (int i = 0; i < BATCHES && maySend(); i++) {
                batch();
            }
            sending = false;
            if (maySend()) {
                ctx.channel().eventLoop().execute(this);
            }
        }

        private boolean maySend() {
            return !stopped && ctx.channel().isWritable();
        }

        private void batch() {
            Channel channel = ctx.channel();
            for (int i = 0; i < BATCH && channel.isWritable(); i++) {
                ctx.write(message.retain(), ctx.voidPromise());
                sent++;
            }
            ctx.flush();
        }

        /** Sends no more; returns how many messages were sent. */
        long stop() {
            stopped = true;
            return sent;
        }
    }

    /** Counts messages and releases them. */
    private final class Receiver extends ChannelInboundHandlerAdapter {
        private long received;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ZMTPMessage arrived = (ZMTPMessage) msg;
            long octets = arrived.readableBytes();
            arrived.release();
            if (octets != size) {
                throw new IllegalStateException("octets received: " + octets + " (expected: " + size + ")");
            }
            received++;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            progress.reach(received);
        }
    }
}
