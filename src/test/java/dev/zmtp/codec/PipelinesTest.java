package dev.zmtp.codec;

import static dev.zmtp.codec.Loopback.await;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.Loopback.Ear;
import dev.zmtp.codec.Loopback.End;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Transport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.haproxy.HAProxyMessage;
import io.netty.handler.codec.haproxy.HAProxyMessageDecoder;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.ipfilter.UniqueIpFilter;
import io.netty.handler.logging.LogLevel;
import io.netty.handler.logging.LoggingHandler;
import io.netty.handler.pcap.PcapWriteHandler;
import io.netty.handler.proxy.Socks5ProxyHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.handler.traffic.ChannelTrafficShapingHandler;
import io.netty.handler.traffic.GlobalTrafficShapingHandler;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One conversation over a socket, whatever handlers of Netty's stand before and behind the codec. */
class PipelinesTest {

    private static final long OCTETS_PER_SECOND = 4 << 20;
    private static final long SHAPER_MILLIS = 20;
    private static final String LOGGER = "dev.zmtp.test";

    private static SslContext serving;
    private static SslContext trusting;

    private Loopback net;
    private final ByteArrayOutputStream capture = new ByteArrayOutputStream();
    private final List<Runnable> cleanups = new ArrayList<>();
    private final Queue<End> onExecutors = new ConcurrentLinkedQueue<>();
    private final End client = new End(codec -> codec);
    private final End server = new End(codec -> codec);

    @BeforeAll
    static void makeCertificates(@TempDir Path dir) throws Exception {
        Certificates host = Certificates.make(dir, "host");
        serving = SslContextBuilder.forServer(host.keys())
                .sslProvider(SslProvider.JDK)
                .build();
        trusting = SslContextBuilder.forClient()
                .sslProvider(SslProvider.JDK)
                .trustManager(host.certificate())
                .build();
    }

    @BeforeEach
    void start(@TempDir Path dir) {
        net = new Loopback(Transport.NIO.kit(), Transport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        for (End end : onExecutors) {
            end.channel.close();
            // A pipeline goes from thread to thread at its end, and both must be there for that.
            await(() -> end.channel.pipeline().get(ZMTPCodec.class) == null);
        }
        net.close();
        cleanups.forEach(Runnable::run);
    }

    @Test
    void aSocksProxyThatRefusesFailsTheHandshakeOnce() throws Exception {
        net.listen(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                int octets = ((ByteBuf) msg).readableBytes();
                ((ByteBuf) msg).release();
                ctx.writeAndFlush(Hex.buffer(octets == 3 ? "05 00" : "05 05 00 01 00000000 0000"));
            }
        });
        ChannelFuture connected = net.connecting(new Socks5ProxyHandler(net.serverAddress()), client.codec, client);
        ChannelFuture early = connected.channel().writeAndFlush(message(1));
        assertThat(client.handshake())
                .isInstanceOfSatisfying(
                        ZMTPHandshakeFailure.class,
                        failure -> assertThat(failure.cause()).hasMessageContaining("CONNECTION_REFUSED"));
        await(early);
        assertThat(early.isSuccess()).isFalse();
        await(connected.channel().closeFuture());
        assertThat(client.handshakes).isEmpty();
        assertThat(client.failures).isEmpty();
    }

    /** A handler, or a pair of them, one at each side. */
    private enum Part {
        NONE,
        TLS,
        HAPROXY_V1,
        HAPROXY_V2,
        SOCKS5,
        IDLE,
        READ_TIMEOUT,
        WRITE_TIMEOUT,
        LOGGING,
        CHANNEL_SHAPER,
        GLOBAL_SHAPER,
        CONSOLIDATION,
        FLOW_CONTROL,
        CHUNKED,
        IP_FILTER,
        PCAP
    }

    /** Those before the codec, from the transport on, and those behind it. */
    private record Pipeline(List<Part> front, List<Part> behind) {
        @Override
        public String toString() {
            return Stream.of(
                            front.stream().map(Part::name),
                            Stream.of("codec"),
                            behind.stream().map(Part::name))
                    .flatMap(names -> names)
                    .collect(Collectors.joining(" "));
        }
    }

    static Stream<Pipeline> pipelines() {
        Stream<Pipeline> front = Arrays.stream(Part.values()).map(part -> new Pipeline(List.of(part), List.of()));
        Stream<Pipeline> behind = Stream.of(
                        Part.IDLE,
                        Part.READ_TIMEOUT,
                        Part.WRITE_TIMEOUT,
                        Part.LOGGING,
                        Part.CHANNEL_SHAPER,
                        Part.GLOBAL_SHAPER,
                        Part.CONSOLIDATION,
                        Part.FLOW_CONTROL,
                        Part.CHUNKED)
                .map(part -> new Pipeline(List.of(), List.of(part)));
        Stream<Pipeline> together = Stream.of(
                new Pipeline(List.of(Part.HAPROXY_V2, Part.TLS), List.of()),
                new Pipeline(List.of(Part.SOCKS5, Part.TLS), List.of(Part.FLOW_CONTROL)),
                new Pipeline(List.of(Part.PCAP, Part.LOGGING, Part.TLS, Part.LOGGING), List.of(Part.LOGGING)),
                new Pipeline(List.of(Part.CONSOLIDATION, Part.TLS), List.of(Part.CONSOLIDATION, Part.FLOW_CONTROL)),
                new Pipeline(List.of(Part.TLS, Part.CONSOLIDATION), List.of(Part.CHANNEL_SHAPER)),
                new Pipeline(List.of(Part.CHANNEL_SHAPER, Part.TLS, Part.CHUNKED), List.of(Part.IDLE)),
                new Pipeline(List.of(Part.GLOBAL_SHAPER, Part.CHANNEL_SHAPER, Part.FLOW_CONTROL), List.of()),
                new Pipeline(
                        List.of(
                                Part.IP_FILTER,
                                Part.PCAP,
                                Part.CONSOLIDATION,
                                Part.HAPROXY_V1,
                                Part.READ_TIMEOUT,
                                Part.CHANNEL_SHAPER,
                                Part.TLS,
                                Part.WRITE_TIMEOUT,
                                Part.FLOW_CONTROL,
                                Part.LOGGING),
                        List.of(Part.LOGGING, Part.IDLE, Part.CONSOLIDATION, Part.CHUNKED, Part.FLOW_CONTROL)));
        return Stream.of(front, behind, together).flatMap(all -> all);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("pipelines")
    void theConversationIsTheSameInEveryPipeline(Pipeline pipeline) throws Exception {
        net.listen(pipeline(pipeline, server, true));
        try (CapturedLog log = new CapturedLog(LOGGER)) {
            ChannelFuture connected = net.connecting(pipeline(pipeline, client, false));
            converse(connected);
            assertThat(log.lines.stream().anyMatch(line -> line.contains("READ: ")))
                    .isEqualTo(Stream.concat(pipeline.front.stream(), pipeline.behind.stream())
                            .anyMatch(Part.LOGGING::equals));
        }
        if (pipeline.front.contains(Part.PCAP)) {
            assertThat(capture.toByteArray()).startsWith(Hex.octets("a1b2c3d4")).hasSizeGreaterThan(100_000);
        }
    }

    @Test
    void theConversationIsTheSameOnAnExecutorOfItsOwn() throws Exception {
        EventExecutorGroup executors = executors();
        net.listen(on(executors, server));
        ChannelFuture connected = net.connecting(on(executors, client));
        converse(connected);
    }

    private EventExecutorGroup executors() {
        EventExecutorGroup executors = new DefaultEventExecutorGroup(2);
        cleanups.add(() -> executors
                .shutdownGracefully(0, Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly());
        return executors;
    }

    @SuppressWarnings("deprecation") // 4.2 would rather have handlers hand work over themselves, but users do this
    private ChannelHandler on(EventExecutorGroup executors, End end, ChannelHandler... beside) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline()
                        .addLast(executors, end.codec)
                        .addLast(executors, beside)
                        .addLast(end);
                onExecutors.add(end);
            }
        };
    }

    /** Says what came, and on which thread, in a handler that has the codec's executor: nothing is handed over to it. */
    private static final class Witness extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        private final End end;

        private Witness(End end) {
            this.end = end;
            end.codec.session().handshakeFuture().addListener(done -> hear("future"));
        }

        private void hear(String what) {
            boolean codecs =
                    end.channel.pipeline().context(end.codec).executor().inEventLoop();
            boolean channels = end.channel.eventLoop().inEventLoop();
            heard.add(what + (codecs ? " on the codec's executor" : "") + (channels ? " on the event loop" : ""));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            hear(evt.getClass().getSimpleName());
            ctx.fireUserEventTriggered(evt);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            hear(Fired.describe(msg));
            ctx.fireChannelRead(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            hear(cause instanceof ZMTPException fault ? fault.code().name() : cause.toString());
            ctx.fireExceptionCaught(cause);
        }
    }

    /** Decodes nothing and says when it is closed. */
    private record Closing(Runnable closed) implements ZMTPDecoder {
        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {}

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {
            closed.run();
        }
    }

    /** A peer that says this once it is connected, and closes nothing. */
    private Channel raw(String theirs) throws InterruptedException {
        Channel raw = net.connect(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ((ByteBuf) msg).release();
            }
        });
        raw.writeAndFlush(Hex.buffer(theirs));
        return raw;
    }

    @Test
    void onAnExecutorOfItsOwnEverythingHappensThere() throws Exception {
        Witness witness = new Witness(server);
        net.listen(on(executors(), server, witness));
        Channel raw = raw(GREETING + ready("PAIR") + "00 01 61");
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeSuccess on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("message 61 on the codec's executor");
        raw.writeAndFlush(Hex.buffer("08 00"));
        assertThat(await(witness.heard)).isEqualTo("MALFORMED on the codec's executor");
        server.assertSucceeded();
        server.assertClosed();
        assertThat(server.failures).hasSize(1);
        assertThat(witness.heard).isEmpty();
        await(server.messages).release();
    }

    @Test
    void onAnExecutorOfItsOwnTheDeadlinePassesThere() throws Exception {
        End mute = new End(codec -> codec.handshakeTimeout(Duration.ofMillis(20)));
        Witness witness = new Witness(mute);
        net.listen(on(executors(), mute, witness));
        raw(GREETING);
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeFailure on the codec's executor");
        mute.assertClosed();
        assertThat(mute.codec.session().handshakeFuture().cause())
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        cause -> assertThat(cause.code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT));
        assertThat(witness.heard).isEmpty();
    }

    @Test
    void onAnExecutorOfItsOwnTheHeartbeatStopsThere() throws Exception {
        AtomicReference<Witness> self = new AtomicReference<>();
        End mute = new End(codec -> codec.heartbeatInterval(Duration.ofMillis(20))
                .heartbeatTimeout(Duration.ofMillis(20))
                .decoder(session -> new Closing(() -> self.get().hear("close"))));
        Witness witness = new Witness(mute);
        self.set(witness);
        net.listen(on(executors(), mute, witness));
        raw(GREETING + ready("PAIR"));
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeSuccess on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("close on the codec's executor"); // on the timer's own thread
        assertThat(await(witness.heard)).isEqualTo("HEARTBEAT_TIMEOUT on the codec's executor");
        mute.assertClosed();
        assertThat(mute.failures).hasSize(1);
        assertThat(witness.heard).isEmpty();
    }

    @Test
    void onAnExecutorOfItsOwnHeldWritesCountAndLeaveInOrder() throws Exception {
        int writes = 100;
        net.listen(on(executors(), server));
        Channel raw = raw(GREETING);
        await(() -> server.channel != null && server.channel.isActive());
        List<ChannelFuture> held = new ArrayList<>();
        for (int i = 0; i < writes; i++) {
            held.add(server.write(i, 1000));
        }
        server.channel.flush();
        // They count on their way to the executor, too, and then no more than what is held is left.
        await(server.channel.pipeline().context(server.codec).executor().submit(() -> {}));
        assertThat(server.channel.isWritable()).isFalse();
        assertThat(held).noneMatch(ChannelFuture::isDone);
        Ear ear = new Ear();
        raw.pipeline().addFirst(ear);
        raw.writeAndFlush(Hex.buffer(ready("PAIR")));
        server.assertSucceeded();
        for (ChannelFuture write : held) {
            await(write);
            assertThat(write.cause()).isNull();
        }
        await(() -> server.channel.isWritable());
        assertThat(server.writability).contains(true);
        StringBuilder sent = new StringBuilder();
        for (int i = 0; i < writes; i++) {
            sent.append(Hex.of("02 00*6 03 e8 %08x 00*996".formatted(i)));
        }
        await(() -> ear.heard().length() >= sent.length());
        assertThat(ear.heard()).endsWith(sent.toString());
    }

    @Test
    void onAnExecutorOfItsOwnAFailureFailsWhatWasHeld() throws Exception {
        net.listen(on(executors(), server));
        Channel raw = raw(GREETING);
        await(() -> server.channel != null && server.channel.isActive());
        List<ZMTPMessage> messages = new ArrayList<>();
        List<ChannelFuture> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            messages.add(message(1000));
            held.add(server.channel.write(messages.get(i)));
        }
        server.channel.flush();
        raw.writeAndFlush(Hex.buffer("00 00"));
        Throwable cause = ((ZMTPHandshakeFailure) server.handshake()).cause();
        for (ChannelFuture write : held) {
            await(write);
            assertThat(write.cause()).isSameAs(cause);
        }
        server.assertClosed();
        assertThat(messages).allMatch(message -> message.refCnt() == 0);
        assertThat(server.failures).isEmpty();
        assertThat(server.handshakes).isEmpty();
    }

    /** What both sides say is checked in full, and so are all promises and all that must not happen. */
    private void converse(ChannelFuture connected) throws Exception {
        Channel channel = connected.channel();
        List<ChannelFuture> writes = new ArrayList<>();
        await(connected);
        assertThat(connected.cause()).isNull();
        List<ZMTPMessage> said = List.of(
                message(3),
                message(0),
                message(5000),
                message(1, 0, 300, 5000, 2),
                message(100_000),
                message(4097, 4097, 1));
        for (ZMTPMessage message : said) {
            writes.add(channel.write(message.retain()));
        }
        channel.flush();
        client.assertSucceeded();
        server.assertSucceeded();
        for (ZMTPMessage message : said) {
            ZMTPMessage heard = await(server.messages);
            assertThat(heard).isEqualTo(message);
            writes.add(server.channel.writeAndFlush(heard));
        }
        for (ZMTPMessage message : said) {
            ZMTPMessage answer = await(client.messages);
            assertThat(answer).isEqualTo(message);
            answer.release();
            message.release();
        }
        for (ChannelFuture write : writes) {
            await(write);
            assertThat(write.cause()).isNull();
        }
        channel.close();
        client.assertClosed();
        server.assertClosed();
        for (End end : List.of(client, server)) {
            assertThat(end.handshakes).isEmpty();
            assertThat(end.messages).isEmpty();
            assertThat(end.failures).isEmpty();
        }
    }

    private static ZMTPMessage message(int... lengths) {
        ByteBuf[] frames = new ByteBuf[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            frames[i] = Hex.buffer("61*" + lengths[i]);
        }
        return ZMTPMessage.from(frames);
    }

    private ChannelHandler pipeline(Pipeline pipeline, End end, boolean server) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                for (Part part : pipeline.front) {
                    add(ch, part, server);
                }
                ch.pipeline().addLast(end.codec);
                for (Part part : pipeline.behind) {
                    add(ch, part, server);
                }
                ch.pipeline().addLast(new Unwrapped(), end);
            }
        };
    }

    private void add(Channel ch, Part part, boolean server) {
        switch (part) {
            case NONE -> {}
            case TLS ->
                ch.pipeline()
                        .addLast(
                                server
                                        ? serving.newHandler(ch.alloc())
                                        : trusting.newHandler(ch.alloc(), "localhost", 5555));
            case HAPROXY_V1 ->
                ch.pipeline()
                        .addLast(
                                server
                                        ? new HAProxyMessageDecoder()
                                        : new Preface("\"PROXY\" 20 \"TCP4\" 20 \"1.2.3.4\" 20 \"5.6.7.8\" 20"
                                                + " \"9\" 20 \"10\" 0d0a"));
            case HAPROXY_V2 ->
                ch.pipeline()
                        .addLast(
                                server
                                        ? new HAProxyMessageDecoder()
                                        : new Preface("0d0a0d0a 00 0d0a \"QUIT\" 0a 21 11 000c 01020304 05060708"
                                                + " 0009 000a"));
            case SOCKS5 ->
                ch.pipeline().addLast(server ? new Socks5Server() : new Socks5ProxyHandler(net.serverAddress()));
            case IDLE -> ch.pipeline().addLast(new IdleStateHandler(30, 30, 30));
            case READ_TIMEOUT -> ch.pipeline().addLast(new ReadTimeoutHandler(30));
            case WRITE_TIMEOUT -> ch.pipeline().addLast(new WriteTimeoutHandler(30));
            case LOGGING -> ch.pipeline().addLast(new LoggingHandler(LOGGER, LogLevel.TRACE));
            case CHANNEL_SHAPER ->
                ch.pipeline()
                        .addLast(new ChannelTrafficShapingHandler(OCTETS_PER_SECOND, OCTETS_PER_SECOND, SHAPER_MILLIS));
            case GLOBAL_SHAPER -> {
                GlobalTrafficShapingHandler shaper = new GlobalTrafficShapingHandler(
                        net.group(), OCTETS_PER_SECOND, OCTETS_PER_SECOND, SHAPER_MILLIS);
                cleanups.add(shaper::release);
                ch.pipeline().addLast(shaper);
            }
            case CONSOLIDATION -> ch.pipeline().addLast(new FlushConsolidationHandler(16, true));
            case FLOW_CONTROL -> ch.pipeline().addLast(new FlowControlHandler());
            case CHUNKED -> ch.pipeline().addLast(new ChunkedWriteHandler());
            case IP_FILTER -> ch.pipeline().addLast(new UniqueIpFilter());
            case PCAP -> {
                if (server) {
                    ch.pipeline().addLast(PcapWriteHandler.builder().build(capture));
                }
            }
        }
    }

    /** What a proxy in front of a server says of its client. */
    private static final class Preface extends ChannelInboundHandlerAdapter {
        private final String octets;

        private Preface(String octets) {
            this.octets = octets;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(Hex.buffer(octets));
            ctx.fireChannelActive();
        }
    }

    /** Takes what is no message of ours. */
    private static final class Unwrapped extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof HAProxyMessage header) {
                assertThat(header.sourceAddress()).isEqualTo("1.2.3.4");
                header.release();
            } else {
                ctx.fireChannelRead(msg);
            }
        }
    }

    /** A proxy that says yes, and whose target is the rest of its own pipeline. */
    private static final class Socks5Server extends ChannelDuplexHandler {
        private static final int IPV4_REQUEST = 10;
        private final List<Integer> expected = new ArrayList<>(List.of(3, IPV4_REQUEST));
        private final List<Runnable> early = new ArrayList<>();
        private ByteBuf received;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            received = ctx.alloc().buffer();
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            early.add(() -> ctx.write(msg, promise)); // the target may talk when there is a tunnel to it
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf in = (ByteBuf) msg;
            received.writeBytes(in);
            in.release();
            while (!expected.isEmpty() && received.readableBytes() >= expected.get(0)) {
                boolean greeting = expected.size() == 2;
                received.skipBytes(expected.remove(0));
                ctx.writeAndFlush(Hex.buffer(greeting ? "05 00" : "05 00 00 01 7f000001 15b3"));
            }
            if (expected.isEmpty()) {
                ByteBuf rest = received.readRetainedSlice(received.readableBytes());
                early.forEach(Runnable::run);
                ctx.flush();
                ctx.pipeline().remove(this);
                ctx.fireChannelRead(rest);
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            received.release();
        }
    }
}
