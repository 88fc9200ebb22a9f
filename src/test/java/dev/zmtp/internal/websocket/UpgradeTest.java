package dev.zmtp.internal.websocket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.HttpText.http;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The upgrade from HTTP to WebSocket, at both ends. */
class UpgradeTest {

    private static final String REQUEST = http("""
            GET /zmtp HTTP/1.1
            Host: server.example.com:8080
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
            Sec-WebSocket-Protocol: ZWS2.0/NULL,ZWS2.0
            Sec-WebSocket-Version: 13

            """);

    /** READY of a DEALER with an empty identity, masked. */
    private static final String READY_OF_DEALER = "82aa00000000" + "02055245414459" + "0b536f636b65742d54797065"
            + "00000006" + "4445414c4552" + "084964656e74697479" + "00000000";

    private EmbeddedChannel channel = new EmbeddedChannel();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private ZMTPCodec server(ZMTPWebSocket settings, ZMTPConfig.Builder config) {
        ZMTPCodec codec = ZMTPCodec.from(config.socketType(ROUTER).build());
        ServerUpgrade.addTo(channel.pipeline(), "/zmtp", settings, codec.session());
        channel.pipeline().addLast(codec);
        return codec;
    }

    private ZMTPCodec server() {
        return server(ZMTPWebSocket.DEFAULT, ZMTPConfig.builder());
    }

    private ZMTPCodec client(ZMTPWebSocket settings) {
        channel = new EmbeddedChannel(false, false);
        ZMTPCodec codec = ZMTPCodec.of(DEALER);
        ClientUpgrade.addTo(channel.pipeline(), "server.example.com", "/zmtp", settings, codec.session());
        channel.pipeline().addLast(codec);
        try {
            channel.register();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        return codec;
    }

    private void receive(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
    }

    /** Returns everything that was written, as text. */
    private String sent() {
        StringBuilder text = new StringBuilder();
        for (Object next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
            text.append(((ByteBuf) next).toString(StandardCharsets.ISO_8859_1));
            ReferenceCountUtil.release(next);
        }
        return text.toString();
    }

    private static Throwable failure(ZMTPCodec codec) {
        return codec.session().handshakeFuture().cause();
    }

    // A server

    @Test
    void aRequestIsAnsweredAndTheFramesAfterItAreRead() {
        ZMTPCodec codec = server();

        channel.writeInbound(Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer(REQUEST, StandardCharsets.US_ASCII),
                Unpooled.wrappedBuffer(HexFormat.of().parseHex(READY_OF_DEALER))));

        assertThat(sent()).startsWith(http("""
                        HTTP/1.1 101 Switching Protocols
                        Upgrade: websocket
                        Connection: Upgrade
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
                        Sec-WebSocket-Protocol: ZWS2.0/NULL

                        """)).contains("\u0002\u0005READY");
        assertThat(codec.session().handshakeFuture().isSuccess()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 50})
    void aRequestCanArriveInPieces(int step) {
        ZMTPCodec codec = server();
        ByteBuf all = Unpooled.wrappedBuffer(
                Unpooled.copiedBuffer(REQUEST, StandardCharsets.US_ASCII),
                Unpooled.wrappedBuffer(HexFormat.of().parseHex(READY_OF_DEALER)));

        while (all.isReadable()) {
            channel.writeInbound(all.readRetainedSlice(Math.min(step, all.readableBytes())));
        }
        all.release();

        assertThat(codec.session().handshakeFuture().isSuccess()).isTrue();
    }

    @Test
    void nothingIsSentInTheMiddleOfARequestAndItsEndIsReported() {
        ZMTPCodec codec = server();

        receive(REQUEST.substring(0, REQUEST.length() - 1));

        channel.close();

        assertThat(sent()).isEmpty();
        assertThat(failure(codec))
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Code.CLOSED));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GET /zmtp HTTP/1.1 | POST /zmtp HTTP/1.1 | 400 Bad Request | MALFORMED | HTTP method: POST",
                "GET /zmtp HTTP/1.1 | GET /zmtp HTTP/1.0 | 400 Bad Request | MALFORMED | HTTP version: HTTP/1.0",
                "GET /zmtp HTTP/1.1 | GET | 400 Bad Request | MALFORMED | HTTP request: ",
                "GET /zmtp | GET /other | 404 Not Found | UNEXPECTED | path: /other",
                "GET /zmtp | GET /zmtp/ | 404 Not Found | UNEXPECTED | path: /zmtp/",
                "Host: | Hosts: | 400 Bad Request | MALFORMED | HTTP header Host: none",
                "Host: | Content-Length: 5;Host: | 400 Bad Request | MALFORMED | HTTP body: present",
                "Host: | Transfer-Encoding: chunked;Host: | 400 Bad Request | MALFORMED | HTTP body: present",
                "Upgrade: websocket | Upgrade: h2c | 426 Upgrade Required | MALFORMED | HTTP request: without an upgrade",
                "Connection: Upgrade | Connection: close | 426 Upgrade Required | MALFORMED | HTTP request: without",
                "Version: 13 | Version: 8 | 426 Upgrade Required | VERSION | WebSocket version: 8",
                "Key: d | Key: dd | 400 Bad Request | MALFORMED | WebSocket key: ddG",
                "Host: | Origin: https://evil.example;Host: | 403 Forbidden | AUTHENTICATION | origin: https://evil.example",
                "ZWS2.0/NULL,ZWS2.0 | ZWS2.0/PLAIN | 400 Bad Request | MECHANISM | subprotocol: ZWS2.0/PLAIN (expected: ZWS2.0/NULL or ZWS2.0)",
                "Sec-WebSocket-Protocol: | X: | 400 Bad Request | MECHANISM | subprotocol: none"
            })
    @Tag("T133")
    void aRequestIsRefusedWithAStatusAndAReason(String from, String to, String status, Code code, String reason) {
        ZMTPCodec codec = server();

        receive(REQUEST.replace(from, to.replace(";", "\r\n")));

        assertThat(sent()).startsWith("HTTP/1.1 " + status + "\r\n").contains("connection: close");
        assertThat(failure(codec)).isInstanceOfSatisfying(ZMTPException.class, failure -> {
            assertThat(failure.code()).isEqualTo(code);
            assertThat(failure).hasMessageStartingWith(reason);
        });
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void anotherVersionIsToldTheVersion() {
        server();

        receive(REQUEST.replace("Version: 13", "Version: 8"));

        assertThat(sent()).contains("connection: upgrade\r\n", "sec-websocket-version: 13\r\n");
    }

    @Test
    @Tag("T133")
    void aHeadThatIsTooLongIsRefused() {
        ZMTPCodec codec = server();

        receive(REQUEST.replace("Host:", "X: " + "x".repeat(9_000) + "\r\nHost:"));

        assertThat(sent()).startsWith("HTTP/1.1 431 ");
        assertThat(failure(codec))
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        failure -> assertThat(failure.code()).isEqualTo(Code.TOO_LARGE));
    }

    @Test
    @Tag("T133")
    void tooManyHeadersAreRefused() {
        ZMTPCodec codec = server();

        receive(REQUEST.replace("Host:", "X: x\r\n".repeat(59) + "Host:"));

        assertThat(sent()).startsWith("HTTP/1.1 431 ");
        assertThat(failure(codec)).hasMessageStartingWith("HTTP headers: 65 (expected: <= 64)");
    }

    @Test
    @Tag("T133")
    void aPeerThatSpeaksNoHttpIsRefusedAtItsFirstByte() {
        ZMTPCodec codec = server();

        receive("\u00ff");

        assertThat(sent()).startsWith("HTTP/1.1 400 ");
        assertThat(failure(codec)).hasMessageStartingWith("first byte: 0xff (expected: HTTP)");
    }

    @Test
    void manyHeadersAreRefusedBeforeTheHeadHasEnded() {
        ZMTPCodec codec = server();

        receive("GET / HTTP/1.1\r\n" + "a:\r\n".repeat(65));

        assertThat(sent()).startsWith("HTTP/1.1 431 ");
        assertThat(failure(codec)).hasMessageStartingWith("HTTP headers: 65 (expected: <= 64)");
    }

    @Test
    void aRefusedPeerIsNotASilentOne() {
        server();
        List<ZMTPHandshakeFailure> failures = new ArrayList<>();
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                failures.add((ZMTPHandshakeFailure) event);
            }
        });

        receive(REQUEST.replace("/zmtp", "/other"));

        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure.silent()).isFalse());
    }

    @Test
    void anAllowedOriginAndNamesInAnyCaseAreAccepted() {
        ZMTPCodec codec = server(ZMTPWebSocket.DEFAULT.origins("https://app.example.com"), ZMTPConfig.builder());

        receive(REQUEST.replace("Host:", "ORIGIN: https://app.example.com\r\nhOST:")
                .replace("Upgrade: websocket", "UPGRADE: WebSocket")
                .replace("Connection: Upgrade", "connection: keep-alive, upgrade"));

        assertThat(sent()).startsWith("HTTP/1.1 101 ");
        assertThat(failure(codec)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/zmtp?token=1", "http://localhost/zmtp", "HTTPS://localhost:8443/zmtp?token=1"})
    void aQueryOrAnAuthorityIsNoOtherPath(String target) {
        server();

        receive(REQUEST.replace("GET /zmtp", "GET " + target));

        assertThat(sent()).startsWith("HTTP/1.1 101 ");
    }

    @ParameterizedTest
    @CsvSource({"'ZWS2.0,ZWS2.0/NULL', ZWS2.0/NULL", "ZWS2.0, ZWS2.0", "'mqtt, ZWS2.0', ZWS2.0"})
    void theServerChooses(String offered, String chosen) {
        server();

        receive(REQUEST.replace("ZWS2.0/NULL,ZWS2.0", offered));

        assertThat(sent()).contains("Sec-WebSocket-Protocol: " + chosen + "\r\n");
    }

    @Test
    @Tag("T134")
    void aPeerWithoutAMechanismIsRefusedWhereAuthenticationIsAskedFor() {
        ZMTPCodec codec =
                server(ZMTPWebSocket.DEFAULT, ZMTPConfig.builder().authenticator(ZMTPAuthenticator.acceptAll()));

        receive(REQUEST.replace("ZWS2.0/NULL,ZWS2.0", "ZWS2.0"));

        assertThat(sent()).startsWith("HTTP/1.1 400 ");
        assertThat(failure(codec)).hasMessage("subprotocol: ZWS2.0 (expected: ZWS2.0/NULL)");
    }

    @Test
    void theMechanismIsPartOfTheSubprotocol() {
        server(
                ZMTPWebSocket.DEFAULT,
                ZMTPConfig.builder().mechanism(ZMTPPlain.server()).authenticator(ZMTPAuthenticator.acceptAll()));

        receive(REQUEST.replace("ZWS2.0/NULL,ZWS2.0", "ZWS2.0/PLAIN,ZWS2.0"));

        assertThat(sent()).contains("Sec-WebSocket-Protocol: ZWS2.0/PLAIN\r\n");
    }

    // A client

    private static String answer(String request) {
        String key = request.replaceFirst("(?s).*Sec-WebSocket-Key: (\\S+).*", "$1");
        return http("""
                HTTP/1.1 101 Switching Protocols
                Upgrade: websocket
                Connection: Upgrade
                Sec-WebSocket-Accept: %s
                Sec-WebSocket-Protocol: ZWS2.0/NULL

                """.formatted(AcceptKey.answer(key)));
    }

    @Test
    void aClientAsksAndSpeaksAfterTheAnswer() {
        ZMTPCodec codec = client(ZMTPWebSocket.DEFAULT.header("Authorization", "Bearer abc"));

        String request = sent();
        receive(answer(request));
        String ready = sent();
        channel.writeInbound(Unpooled.wrappedBuffer(HexFormat.of()
                .parseHex("821b" + "02055245414459" + "0b536f636b65742d54797065" + "00000004" + "50555348"))); // PUSH

        assertThat(request).matches(http("""
                        GET /zmtp HTTP/1.1
                        Host: server.example.com
                        Upgrade: websocket
                        Connection: Upgrade
                        Sec-WebSocket-Key: [A-Za-z0-9+/]{22}==
                        Sec-WebSocket-Protocol: ZWS2.0/NULL,ZWS2.0
                        Sec-WebSocket-Version: 13
                        Authorization: Bearer abc

                        """));
        assertThat(ready).isNotEmpty();
        assertThat(failure(codec)).hasMessageContaining("PUSH");
    }

    @Test
    void anInterimAnswerIsNotTheLast() {
        ZMTPCodec codec = client(ZMTPWebSocket.DEFAULT);

        String request = sent();
        receive("HTTP/1.1 103 Early Hints\r\n\r\n" + answer(request));

        assertThat(failure(codec)).isNull();
        assertThat(sent()).isNotEmpty();
    }

    @Test
    void aBadInterimAnswerIsMalformed() {
        ZMTPCodec codec = client(ZMTPWebSocket.DEFAULT);

        sent();
        receive("HTTP/1.1 103 Early Hints\r\nbad\u0000name: a\r\n\r\n");

        assertThat(failure(codec)).hasMessageContaining("HTTP response");
    }

    @Test
    void interimAnswersAreLimited() {
        ZMTPCodec codec = client(ZMTPWebSocket.DEFAULT);

        sent();
        receive("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(8));
        assertThat(failure(codec)).isNull();
        receive("HTTP/1.1 103 Early Hints\r\n\r\n");

        assertThat(failure(codec)).hasMessageContaining("interim answers of HTTP: 9 (expected: <= 8)");
    }

    @Test
    void aBareClientOffersNoMechanism() {
        client(ZMTPWebSocket.DEFAULT.bare(true));

        assertThat(sent()).contains("Sec-WebSocket-Protocol: ZWS2.0\r\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "101 Switching Protocols | 404 Not Found | PEER_ERROR | HTTP status: 404 Not Found (expected: 101)",
                "101 Switching Protocols | 302 Found | PEER_ERROR | HTTP status: 302 Found",
                "101 Switching Protocols | 401 Unauthorized | PEER_ERROR | HTTP status: 401",
                "101 Switching Protocols | 503 Service Unavailable | CLOSED | HTTP status: 503",
                "Upgrade: websocket | Upgrade: h2c | MALFORMED | HTTP response: without an upgrade",
                "Connection: Upgrade | Connection: close | MALFORMED | HTTP response: without an upgrade",
                "Accept: | Accept: x | MALFORMED | WebSocket accept key: x",
                "ZWS2.0/NULL | ZWS2.0/CURVE | MECHANISM | subprotocol: ZWS2.0/CURVE (expected: ZWS2.0/NULL or ZWS2.0)",
                "Sec-WebSocket-Protocol | X | MECHANISM | subprotocol: none",
                "Upgrade: websocket | Upgrade: websocket;Sec-WebSocket-Extensions: permessage-deflate | UNEXPECTED | WebSocket ext",
                "HTTP/1.1 101 | SSH-2.0 101 | MALFORMED | HTTP response: "
            })
    @Tag("T133")
    void anAnswerThatIsNoUpgradeEndsTheConnection(String from, String to, Code code, String reason) {
        ZMTPCodec codec = client(ZMTPWebSocket.DEFAULT);

        receive(answer(sent()).replaceFirst(from, to.replace(";", "\r\n")));

        assertThat(failure(codec)).isInstanceOfSatisfying(ZMTPException.class, failure -> {
            assertThat(failure.code()).isEqualTo(code);
            assertThat(failure).hasMessageStartingWith(reason);
        });
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void theKeyOfTheSpecificationHasItsAnswer() {
        assertThat(AcceptKey.answer("dGhlIHNhbXBsZSBub25jZQ==")).isEqualTo("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assertThat(AcceptKey.isKey(AcceptKey.newKey())).isTrue();
    }
}
