package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * How many messages a second go from a DEALER to a ROUTER over a loopback socket, one event loop each.
 *
 * <p>The DEALER writes batches of messages, one flush for each batch, while the channel is writable. It does so without
 * a pause; an invocation waits for its share of what arrives. So the rate is that of messages received, and neither the
 * start of an invocation nor its end leaves the socket idle.
 */
public class ThroughputBenchmark extends LoopbackBenchmark {

    private static final int MESSAGES = 8192;

    /** The transport. */
    @Param
    SocketTransport transport;

    /** The bytes of a message. */
    @Param({"100", "1000", "65536"})
    int size;

    private final Sender sender = new Sender();
    private ZMTPMessage message;

    /** Connects and starts to send. */
    @Setup
    public void connect() throws Exception {
        message = ZMTPMessage.from(ByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size));
        open(
                transport,
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.DEALER), sender),
                new LoopbackConnection.End(ZMTPCodec.of(ZMTPSocketType.ROUTER), new Receiver()));
        connection().client().eventLoop().execute(sender);
    }

    /** Waits for messages. One operation is one message received. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public void messages() {
        awaitMore(MESSAGES);
    }

    @Override
    long stop() throws Exception {
        return connection().client().eventLoop().submit(sender::stop).get();
    }

    @Override
    void release() {
        message.release();
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
                return; // called by our own flush, after which we go on
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
            long bytes = arrived.readableBytes();
            arrived.release();
            if (bytes != size) {
                throw new IllegalStateException("bytes received: " + bytes + " (expected: " + size + ")");
            }
            received++;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            progress.reach(received);
        }
    }
}
