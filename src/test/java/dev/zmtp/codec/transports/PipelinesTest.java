package dev.zmtp.codec.transports;

import static dev.zmtp.testing.Loopback.await;
import static dev.zmtp.testing.Loopback.converse;
import static dev.zmtp.testing.Loopback.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Certificates;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.Loopback.End;
import dev.zmtp.testing.TestTransport;
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
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One conversation over a socket, with any of Netty's handlers before and after the codec. */
class PipelinesTest {

    private static final long OCTETS_PER_SECOND = 4 << 20;
    private static final long SHAPER_MILLIS = 20;
    private static final String LOGGER = "dev.zmtp.test";

    private static SslContext serving;
    private static SslContext trusting;

    private Loopback net;
    private final ByteArrayOutputStream capture = new ByteArrayOutputStream();
    private final List<Runnable> cleanups = new ArrayList<>();
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
        net = new Loopback(TestTransport.NIO.kit(), TestTransport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        net.close();
        cleanups.forEach(Runnable::run);
    }

    @Test
    void aSocksProxyThatRefusesFailsTheHandshakeOnce() throws Exception {
        net.listen(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                int bytes = ((ByteBuf) msg).readableBytes();
                ((ByteBuf) msg).release();
                ctx.writeAndFlush(Hex.buffer(bytes == 3 ? "05 00" : "05 05 00 01 00000000 0000"));
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

    /** The handlers before the codec, starting at the transport, and those after it. */
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
            converse(connected, client, server);
            assertThat(log.lines.stream().anyMatch(line -> line.contains("READ: ")))
                    .isEqualTo(Stream.concat(pipeline.front.stream(), pipeline.behind.stream())
                            .anyMatch(Part.LOGGING::equals));
        }
        if (pipeline.front.contains(Part.PCAP)) {
            assertThat(capture.toByteArray()).startsWith(Hex.bytes("a1b2c3d4")).hasSizeGreaterThan(100_000);
        }
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

    /** The header that a proxy in front of a server sends about its client. */
    private static final class Preface extends ChannelInboundHandlerAdapter {
        private final String bytes;

        private Preface(String bytes) {
            this.bytes = bytes;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(Hex.buffer(bytes));
            ctx.fireChannelActive();
        }
    }

    /** Consumes objects that are not ours. */
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

    /** A proxy that accepts any request, and whose target is the rest of its own pipeline. */
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
