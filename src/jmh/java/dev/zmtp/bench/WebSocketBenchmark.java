package dev.zmtp.bench;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.websocket.WebSocketRole;
import dev.zmtp.internal.websocket.ZwsProtocol;
import dev.zmtp.internal.websocket.ZwsTranslator;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
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
 * What WebSocket adds to a message, without a socket and a codec: the time to translate ZMTP frames into the frames of
 * one side, and back at the other side.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WebSocketBenchmark {

    private static final int MESSAGES = 512;

    /** The side that sends. A client masks its frames. */
    @Param
    WebSocketRole sender;

    /** The length of a message in bytes. */
    @Param({"10", "100", "1000"})
    int size;

    private final Codec received = new Codec();
    private EmbeddedChannel sending;
    private EmbeddedChannel receiving;
    private ByteBuf zmtp;
    private ByteBuf webSocket;

    /** Opens both sides, and prepares what each translates. */
    @Setup
    public void open() {
        sending = open(sender, new Codec());
        receiving = open(sender == WebSocketRole.CLIENT ? WebSocketRole.SERVER : WebSocketRole.CLIENT, received);
        zmtp = sending.alloc().directBuffer();
        for (int i = 0; i < MESSAGES; i++) {
            ZMTPFraming.V3.writeHeader(zmtp, 0, size);
            zmtp.writeZero(size);
        }
        webSocket = translate();
    }

    private static EmbeddedChannel open(WebSocketRole role, Codec codec) {
        ZMTPConfig config =
                ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();
        ZwsTranslator translator = new ZwsTranslator(role, ZMTPSession.from(config));
        EmbeddedChannel channel = new EmbeddedChannel(translator, codec);
        translator.start(ZwsProtocol.BARE);
        channel.writeOutbound(channel.alloc().buffer().writeZero(12)); // a greeting of ZMTP 2.0, which is discarded
        channel.releaseOutbound();
        return channel;
    }

    private ByteBuf translate() {
        sending.writeOutbound(zmtp.retainedDuplicate());
        return sending.readOutbound();
    }

    /** Translates what is sent. One operation is one message. */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public int send() {
        ByteBuf frames = translate();
        int length = frames.readableBytes();
        frames.release();
        return length;
    }

    /**
     * Translates what is received, which overwrites a copy, as the kernel fills a buffer for each read. One operation
     * is one message.
     */
    @Benchmark
    @OperationsPerInvocation(MESSAGES)
    public long receive() {
        int length = webSocket.readableBytes();
        ByteBuf read = receiving.alloc().directBuffer(length).writeBytes(webSocket, 0, length);
        receiving.pipeline().fireChannelRead(read);
        return received.bytes;
    }

    /** Closes both sides. */
    @TearDown
    public void close() {
        zmtp.release();
        webSocket.release();
        sending.finishAndReleaseAll();
        receiving.finishAndReleaseAll();
    }

    /** Counts the received bytes in the place of a codec. */
    private static final class Codec extends ChannelInboundHandlerAdapter {

        private long bytes;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf frames = (ByteBuf) message;
            bytes += frames.readableBytes();
            frames.release();
        }
    }
}
