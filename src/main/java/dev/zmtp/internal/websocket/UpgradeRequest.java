package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.internal.runtime.RequestPath;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** The checks of a request for an upgrade (RFC 6455, section 4.2.1), and the answers. */
final class UpgradeRequest {

    private static final String VERSION = "13";

    /** An answer that is not 101. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1;

        private final transient HttpResponseStatus status;
        private final ZMTPException reason;

        Refusal(HttpResponseStatus status, ZMTPException reason) {
            super(reason.getMessage(), reason, false, false);
            this.status = status;
            this.reason = reason;
        }

        /** Returns the failure of the handshake. */
        ZMTPException reason() {
            return reason;
        }

        FullHttpResponse response() {
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status);
            response.headers()
                    .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                    .set(HttpHeaderNames.CONTENT_LENGTH, 0);
            if (status.equals(HttpResponseStatus.UPGRADE_REQUIRED)) {
                response.headers()
                        .add(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE)
                        .set(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET)
                        .set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, VERSION);
            }
            return response;
        }
    }

    private final HttpRequest request;
    private final HttpHeaders headers;

    UpgradeRequest(HttpRequest request) {
        this.request = request;
        this.headers = request.headers();
    }

    /** Returns the sub-protocol to speak if the request is for this path. */
    ZwsProtocol check(String path, ZMTPWebSocket settings, Subprotocols spoken) throws Refusal {
        checkForm();
        if (!RequestPath.matches(path, request.uri())) {
            throw refusal(HttpResponseStatus.NOT_FOUND, Code.UNEXPECTED, "path", request.uri(), path);
        }
        checkUpgrade();
        checkOrigin(settings);
        List<String> offered = tokens(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL).toList();
        ZwsProtocol protocol = spoken.best(offered);
        if (protocol == null) {
            String value = offered.isEmpty() ? "none" : String.join(",", offered);
            throw refusal(HttpResponseStatus.BAD_REQUEST, Code.MECHANISM, "subprotocol", value, spoken.expected());
        }
        return protocol;
    }

    private static Refusal refusal(HttpResponseStatus status, Code code, String what, Object value, String expected) {
        return new Refusal(status, ZMTPException.of(code, what, value, expected));
    }

    private static Refusal malformed(String what, Object value, String expected) {
        return refusal(HttpResponseStatus.BAD_REQUEST, Code.MALFORMED, what, value, expected);
    }

    /** Returns the refusal of a head that was not parsed, or only in part. */
    static Refusal refusal(ZMTPException reason) {
        return new Refusal(
                reason.code() == Code.TOO_LARGE
                        ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                        : HttpResponseStatus.BAD_REQUEST,
                reason);
    }

    /** Returns whether the connection has ended in the middle of a message, which the codec reports. */
    static boolean isCut(Object message) {
        return message instanceof HttpObject object
                && object.decoderResult().cause() instanceof PrematureChannelClosureException;
    }

    private void checkForm() throws Refusal {
        Throwable failure = request.decoderResult().cause();
        if (failure instanceof TooLongFrameException) { // TooLongHttpHeaderException, which early versions do not have
            String limit = String.valueOf(failure.getMessage());
            throw refusal(ZMTPException.of(Code.TOO_LARGE, "HTTP headers", limit, "shorter ones"));
        }
        if (failure != null) {
            throw malformed("HTTP request", String.valueOf(failure.getMessage()), "one that RFC 9112 allows");
        }
        if (!request.method().equals(HttpMethod.GET)) {
            throw malformed("HTTP method", request.method(), "GET");
        }
        if (!request.protocolVersion().equals(HttpVersion.HTTP_1_1)) {
            throw malformed("HTTP version", request.protocolVersion(), "HTTP/1.1");
        }
        if (HttpUtil.isTransferEncodingChunked(request) || HttpUtil.getContentLength(request, 0L) != 0) {
            throw malformed("HTTP body", "present", "none");
        }
        if (!headers.contains(HttpHeaderNames.HOST)) {
            throw malformed("HTTP header Host", "none", "a host");
        }
    }

    private void checkUpgrade() throws Refusal {
        if (tokens(HttpHeaderNames.UPGRADE).noneMatch(HttpHeaderValues.WEBSOCKET::contentEqualsIgnoreCase)
                || tokens(HttpHeaderNames.CONNECTION).noneMatch(HttpHeaderValues.UPGRADE::contentEqualsIgnoreCase)) {
            throw refusal(
                    HttpResponseStatus.UPGRADE_REQUIRED,
                    Code.MALFORMED,
                    "HTTP request",
                    "without an upgrade",
                    "Upgrade: websocket");
        }
        String version = headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "none");
        if (!version.equals(VERSION)) {
            throw refusal(HttpResponseStatus.UPGRADE_REQUIRED, Code.VERSION, "WebSocket version", version, VERSION);
        }
        if (!AcceptKey.isKey(key())) {
            throw malformed("WebSocket key", key(), "16 bytes in Base64");
        }
    }

    private String key() {
        return headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY, "none");
    }

    /** A browser names the origin of the page, which could be of anybody that the user of the browser visits. */
    private void checkOrigin(ZMTPWebSocket settings) throws Refusal {
        for (String origin : headers.getAll(HttpHeaderNames.ORIGIN)) {
            if (!settings.isAnyOrigin() && !settings.origins().contains(origin)) {
                String allowed = settings.origins().isEmpty()
                        ? "no origin, as none is allowed"
                        : String.join(" or ", settings.origins());
                throw refusal(HttpResponseStatus.FORBIDDEN, Code.AUTHENTICATION, "origin", origin, allowed);
            }
        }
    }

    private Stream<String> tokens(CharSequence name) {
        return headers.getAll(name).stream()
                .flatMap(value -> Arrays.stream(value.split(",")))
                .map(String::strip)
                .filter(token -> !token.isEmpty());
    }

    /** Returns the answer after which the connection is a WebSocket. Its values are those that libzmq compares with. */
    FullHttpResponse accepted(ZwsProtocol protocol) {
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS);
        response.headers()
                .set("Upgrade", "websocket")
                .set("Connection", "Upgrade")
                .set("Sec-WebSocket-Accept", AcceptKey.answer(key()))
                .set("Sec-WebSocket-Protocol", protocol.text());
        return response;
    }
}
