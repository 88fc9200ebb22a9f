package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
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
 * What it takes to write one message to a thousand subscribers of one event loop, without sockets: encoded for each,
 * encoded once, and by Netty alone with bytes that were framed before, without a handler and with one that does what it
 * must: it releases the message, and learns whether the bytes were sent. The last is the floor.
 *
 * <p>One operation is one subscriber. Each flush leaves at once: a subscriber has one message in a turn.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsPrepend = {BenchmarkThreads.CUSTOM, BenchmarkThreads.CLASS, BenchmarkThreads.NO_LEAK_DETECTION})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class FanOutBenchmark {

    private static final int SUBSCRIBERS = 1_000;

    /** What is published. */
    @Param({"FRAME_100", "SEVEN_FRAMES"})
    Shape shape;

    private final Network network = new Network();
    private final List<ScriptedPeer> subscribers = new ArrayList<>();
    private final List<Channel> encoding = new ArrayList<>();
    private final List<Channel> bare = new ArrayList<>();
    private final List<Channel> least = new ArrayList<>();
    private ZMTPMessage message;
    private ZMTPMessage encodedOnce;
    private ByteBuf framed;

    /** Connects the subscribers. */
    @Setup
    public void connect() {
        for (int i = 0; i < SUBSCRIBERS; i++) {
            ScriptedPeer subscriber = InTraffic.as(ZMTPSocketType.PUB)
                    .peer(ZMTPSocketType.SUB)
                    .peer(ZMTPVersion.ZMTP31)
                    .set(codec -> codec.consolidateFlushes(false)) // no task of an event loop is run here
                    .before(network)
                    .start();
            subscribers.add(subscriber);
            encoding.add(subscriber.channel);
            bare.add(new EmbeddedChannel(network));
            least.add(new EmbeddedChannel(network, new LeastHandler()));
        }
        message = shape.message(ByteBufAllocator.DEFAULT);
        encodedOnce = shape.message(ByteBufAllocator.DEFAULT).encodeOnce();
        framed = message.write(ByteBufAllocator.DEFAULT, ZMTPVersion.ZMTP31);
        network.clear();
    }

    /** Writes and flushes the message to each channel. */
    @Benchmark
    @OperationsPerInvocation(SUBSCRIBERS)
    public long encodeForEach() {
        return write(encoding, message);
    }

    /** The same with a message that is encoded once. */
    @Benchmark
    @OperationsPerInvocation(SUBSCRIBERS)
    public long encodeOnce() {
        return write(encoding, encodedOnce);
    }

    /** The same with a handler that does the least, and bytes that are framed already. */
    @Benchmark
    @OperationsPerInvocation(SUBSCRIBERS)
    public long leastHandler() {
        return write(least, message);
    }

    private long write(List<Channel> channels, ZMTPMessage message) {
        for (Channel channel : channels) {
            channel.pipeline().write(message.retain(), channel.voidPromise());
            channel.pipeline().flush();
        }
        return network.take((long) SUBSCRIBERS * framed.readableBytes());
    }

    /** The same with bytes that are framed already, and no handler. */
    @Benchmark
    @OperationsPerInvocation(SUBSCRIBERS)
    public long framedOnce() {
        for (Channel channel : bare) {
            channel.pipeline().write(framed.retainedDuplicate(), channel.voidPromise());
            channel.pipeline().flush();
        }
        return network.take((long) SUBSCRIBERS * framed.readableBytes());
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        subscribers.forEach(ScriptedPeer::close);
        bare.forEach(Channel::close);
        least.forEach(Channel::close);
        message.release();
        encodedOnce.release();
        framed.release();
        if (subscribers.stream().anyMatch(subscriber -> !subscriber.failures.isEmpty())) {
            throw new IllegalStateException("a connection failed");
        }
    }

    /** Sends the same bytes for each message, and looks whether they were sent. */
    private final class LeastHandler extends ChannelOutboundHandlerAdapter {
        private final ChannelFutureListener sent = write -> {
            if (!write.isSuccess()) {
                write.channel().close();
            }
        };

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ((ZMTPMessage) msg).release();
            ctx.write(framed.retainedDuplicate()).addListener(sent);
        }
    }
}
