package dev.zmtp.websocket;

import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.HttpText.http;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.Recorder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPipelineException;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A path of an HTTP server that speaks ZMTP. */
class ZMTPWebSocketUpgradeTest {

    private static final String REQUEST = http("""
            GET /echo HTTP/1.1
            Host: localhost
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
            Sec-WebSocket-Protocol: ZWS2.0
            Sec-WebSocket-Version: 13

            """);
    private static final String REQUEST_FOR_A_PAGE = "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n";

    /** An empty identity, and "abc" of a client whose key is zero. */
    private static final String FRAMES = "828100000000" + "00" + "828400000000" + "00616263";

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ZMTPCodec codec = ZMTPCodec.of(ROUTER);
    private final Events events = new Events();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    /** Sends each message back, and records events. */
    private static final class Events extends ChannelDuplexHandler {
        private final List<Object> seen = new ArrayList<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            seen.add(event);
        }
    }

    /** Answers each request with 200. */
    private static final class Pages extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof HttpRequest) {
                DefaultFullHttpResponse response =
                        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                response.headers().set("content-length", 0);
                ctx.writeAndFlush(response);
            }
            ReferenceCountUtil.release(message);
        }
    }

    private ZMTPWebSocketUpgrade upgrade(Supplier<ZMTPCodec> codecs, Consumer<ChannelPipeline> service) {
        return new ZMTPWebSocketUpgrade("/echo", ZMTPWebSocket.DEFAULT, codecs, service);
    }

    private ZMTPWebSocketUpgrade upgrade() {
        return upgrade(() -> codec, pipeline -> pipeline.addLast(events));
    }

    private void serve(ChannelHandler... behind) {
        channel.pipeline()
                .addLast(new HttpServerCodec(), upgrade())
                .addLast(behind)
                .addLast(new Pages());
    }

    private void receive(String text, String hex) {
        channel.writeInbound(Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII),
                Unpooled.wrappedBuffer(HexFormat.of().parseHex(hex))));
    }

    private String sent() {
        StringBuilder text = new StringBuilder();
        for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
            text.append(next.toString(StandardCharsets.ISO_8859_1));
            next.release();
        }
        return text.toString();
    }

    @Test
    void framesInTheSameReadAsTheRequestAreAnswered() {
        serve();

        receive(REQUEST, FRAMES);

        assertThat(sent())
                .startsWith("HTTP/1.1 101 Switching Protocols\r\n")
                .endsWith("\r\n\r\n\u0082\1\0\u0082\4\0abc");
        assertThat(events.seen).hasExactlyElementsOfTypes(ZMTPHandshakeSuccess.class);
    }

    @Test
    void theHandlersOfHttpLeaveThePipeline() {
        serve(new HttpContentCompressor(), new HttpObjectAggregator(1_000));

        receive(REQUEST, FRAMES);

        assertThat(sent()).endsWith("\0abc");
        assertThat(channel.pipeline().toMap().values().stream()
                        .map(handler -> handler.getClass().getSimpleName()))
                .containsExactly("ZwsTranslator", "ZMTPCodec", "Events");
    }

    @Test
    void requestsForOtherPathsArePassedOn() {
        serve();

        receive(REQUEST_FOR_A_PAGE, "");
        receive(REQUEST_FOR_A_PAGE, "");

        assertThat(sent()).isEqualTo("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".repeat(2));
        receive(REQUEST, FRAMES);
        assertThat(sent()).endsWith("\0abc");
    }

    @Test
    void aRequestThatIsNoUpgradeIsAnsweredAndFailsTheHandshake() {
        serve();

        receive(REQUEST_FOR_A_PAGE.replace("/page", "/echo?a=b"), "");

        assertThat(sent()).startsWith("HTTP/1.1 426 Upgrade Required\r\n");
        assertThat(events.seen).hasExactlyElementsOfTypes(ZMTPHandshakeFailure.class);
        assertThat(codec.session().handshakeFuture().cause())
                .isInstanceOf(ZMTPException.class)
                .hasMessageContaining("HTTP request: without an upgrade (expected: Upgrade: websocket)");
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void anOriginThatIsNotAllowedIsRefused() {
        serve();

        receive(REQUEST.replace("Upgrade: websocket", "Origin: https://a.example\r\nUpgrade: websocket"), "");

        assertThat(sent()).startsWith("HTTP/1.1 403 Forbidden\r\n");
        assertThat(channel.isOpen()).isFalse();
    }

    private void failsWith(String message, Supplier<ZMTPCodec> codecs, Consumer<ChannelPipeline> service) {
        channel.pipeline().addLast(new HttpServerCodec(), upgrade(codecs, service), new Pages());

        assertThatThrownBy(() -> receive(REQUEST + REQUEST, "")).hasMessage(message);

        assertThat(channel.isOpen()).isFalse();
        assertThat(sent()).isEmpty();
    }

    @Test
    void anExceptionOfTheServiceClosesTheChannel() {
        AtomicInteger calls = new AtomicInteger();

        failsWith("no service", () -> codec, pipeline -> {
            calls.incrementAndGet();
            throw new IllegalStateException("no service");
        });

        assertThat(calls).hasValue(1);
    }

    @Test
    void anExceptionOfTheSourceOfCodecsClosesTheChannel() {
        AtomicInteger calls = new AtomicInteger();
        Supplier<ZMTPCodec> codecs = () -> {
            calls.incrementAndGet();
            throw new IllegalStateException("no codec");
        };

        failsWith("no codec", codecs, pipeline -> {});

        assertThat(calls).hasValue(1);
    }

    @Test
    void aSourceOfCodecsThatHasNoneClosesTheChannel() {
        failsWith("codec", () -> null, pipeline -> {});
    }

    @Test
    void aRequestBeforeTheResponseToAnotherClosesTheChannel() {
        channel.pipeline().addLast(new HttpServerCodec(), upgrade(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ReferenceCountUtil.release(message); // which it answers later
            }
        });

        assertThatThrownBy(() -> receive(REQUEST_FOR_A_PAGE + REQUEST, ""))
                .isInstanceOf(ZMTPException.class)
                .hasMessage("requests without a response: 1 (expected: none)");

        assertThat(channel.isOpen()).isFalse();
        assertThat(sent()).isEmpty();
    }

    @Test
    void aHandlerThatIsBeforeTheHttpCodecAsWellStaysThere() {
        ChannelHandler shared = new SharedHandler();
        channel.pipeline().addLast(shared);
        serve(shared);

        receive(REQUEST, FRAMES);

        assertThat(channel.pipeline().first()).isSameAs(shared);
        assertThat(channel.pipeline().names().get(1)).startsWith("ZwsTranslator");
    }

    @ChannelHandler.Sharable
    private static final class SharedHandler extends ChannelInboundHandlerAdapter {}

    @Test
    void aHandlerBetweenItAndTheHttpCodecLeavesAsWell() {
        channel.pipeline().addLast(new HttpServerCodec(), new SharedHandler(), upgrade(), new Pages());

        receive(REQUEST, FRAMES);

        assertThat(sent()).endsWith("\0abc");
        assertThat(channel.pipeline().get(SharedHandler.class)).isNull();
    }

    @Test
    void aServerHasSeveralPaths() {
        ZMTPWebSocketUpgrade other =
                new ZMTPWebSocketUpgrade("/other", ZMTPWebSocket.DEFAULT, () -> ZMTPCodec.of(ROUTER), pipeline -> {});
        channel.pipeline().addLast(new HttpServerCodec(), other, upgrade(), new Pages());

        receive(REQUEST_FOR_A_PAGE + REQUEST, FRAMES);

        assertThat(sent()).startsWith("HTTP/1.1 200 OK").endsWith("\0abc");
        assertThat(channel.pipeline().get(ZMTPWebSocketUpgrade.class)).isNull();
    }

    @Test
    void theEndOfARequestThatIsQueuedFollowsItsHead() {
        channel.config().setAutoRead(false);
        channel.pipeline().addLast(new HttpServerCodec(), new FlowControlHandler(), upgrade(), new Pages());

        receive(REQUEST, "");
        channel.read();
        receive("", FRAMES);
        channel.read();

        assertThat(sent()).startsWith("HTTP/1.1 101 ").endsWith("\0abc");
    }

    @Test
    void aRequestWithABodyIsRefused() {
        serve();

        receive(REQUEST.replace("GET", "POST").replace("Host", "Content-Length: 3\r\nHost") + "abc", "");

        assertThat(sent()).startsWith("HTTP/1.1 400 ");
        assertThat(channel.isOpen()).isFalse();
    }

    /** As an endpoint of a socket does, at its own limits. */
    @Test
    void headersOverTheLimitsOfTheHttpCodecAreRefused() {
        channel.pipeline().addLast(new HttpServerCodec(4096, 512, 8192), upgrade(), new Pages());

        receive(REQUEST.replace("Host: localhost", "Host: localhost\r\nX: " + "x".repeat(512)), "");

        assertThat(sent()).startsWith("HTTP/1.1 431 ");
        ZMTPException failure = Failures.failureOf(channel, events.seen);
        assertThat(failure.code()).isEqualTo(ZMTPException.Code.TOO_LARGE);
        assertThat(failure).hasMessageStartingWith("HTTP headers: ");
    }

    @Test
    void anInterimResponseIsNotTheResponse() {
        channel.pipeline().addLast(new HttpServerCodec(), upgrade(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                if (message instanceof HttpRequest) {
                    ctx.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.EARLY_HINTS));
                    ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
                }
                ReferenceCountUtil.release(message);
            }
        });

        assertThatThrownBy(() -> receive(REQUEST_FOR_A_PAGE + REQUEST, ""))
                .hasMessage("requests without a response: 1 (expected: none)");
    }

    @Test
    void aRequestBehindOneWhoseResponseClosesTheChannelIsDropped() {
        channel.pipeline().addLast(new HttpServerCodec(), upgrade(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ReferenceCountUtil.release(message);
                ctx.close();
            }
        });

        receive(REQUEST_FOR_A_PAGE + REQUEST, FRAMES);

        assertThat(sent()).isEmpty();
        assertThat(events.seen).isEmpty();
    }

    @Test
    void aRequestThatIsCutIsPassedOn() {
        Recorder<Object> pages = new Recorder<>(message -> message);
        channel.pipeline().addLast(new HttpServerCodec(), upgrade(), pages);

        receive("GET /echo HTTP/1.1\r\nHost: ", "");
        channel.finishAndReleaseAll();

        assertThat(pages.messages).isNotEmpty();
        assertThat(codec.session().handshakeFuture().isDone()).isFalse();
    }

    private @Nullable Exception failure() {
        channel.runPendingTasks();
        try {
            channel.checkException();
            return null;
        } catch (ChannelPipelineException e) {
            return e;
        }
    }

    @Test
    @SuppressWarnings("deprecation") // in Netty 4.2, and still possible
    void anExecutorOfItsOwnIsRefused() {
        EventExecutorGroup executors = new DefaultEventExecutorGroup(1);
        try {
            channel.pipeline().addLast(executors, upgrade());

            Loopback.await(() -> failure() != null);
            assertThat(channel.pipeline().get(ZMTPWebSocketUpgrade.class)).isNull();
        } finally {
            executors.shutdownGracefully(0, 10, TimeUnit.SECONDS).awaitUninterruptibly();
        }
    }

    @Test
    void aPipelineWithoutHttpIsAnError() {
        channel.pipeline().addLast("zmtp", upgrade());

        DefaultHttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/echo");

        assertThatThrownBy(() -> channel.writeInbound(request))
                .hasMessage("handler before zmtp: none (expected: HttpServerCodec)");
        assertThat(channel.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "echo", "/e cho", "/echo#a", "/\u00e9"})
    void aPathThatNoRequestHasIsRefused(String path) {
        assertThatThrownBy(() -> new ZMTPWebSocketUpgrade(path, ZMTPWebSocket.DEFAULT, () -> codec, pipeline -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("path: " + path + " (expected: a path of printable ASCII without blanks and #)");
    }
}
