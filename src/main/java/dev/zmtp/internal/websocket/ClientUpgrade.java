package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.UpgradedSession;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sends the request of a WebSocket client as soon as the channel is active, checks the answer (RFC 6455, section 4.1),
 * starts the translator and leaves the pipeline together with the HTTP codec before it. An answer that is not 101 fails
 * the handshake of the codec.
 */
public final class ClientUpgrade extends ChannelInboundHandlerAdapter {

    private static final int SWITCHING_PROTOCOLS = 101;

    /** Maximum number of interim answers, each of which has a head of limited length. */
    private static final int MAX_INTERIM = 8;

    private final String host;
    private final String path;
    private final ZMTPWebSocket settings;
    private final ZMTPSession session;
    private final ZwsTranslator translator;
    private final HttpClientCodec http =
            new HttpClientCodec(HeadLimit.MAX_LENGTH, HeadLimit.MAX_LENGTH, HeadLimit.MAX_LENGTH);
    private final String key = AcceptKey.newKey();
    private boolean requested;
    private int interim;
    private boolean failed;
    private @Nullable ZwsProtocol protocol;

    private ClientUpgrade(
            String host, String path, ZMTPWebSocket settings, ZMTPSession session, ZwsTranslator translator) {
        this.host = host;
        this.path = path;
        this.settings = settings;
        this.session = session;
        this.translator = translator;
    }

    /**
     * Adds the handlers that stand before the codec of a session.
     *
     * @param host value of the header Host
     */
    public static void addTo(
            ChannelPipeline pipeline, String host, String path, ZMTPWebSocket settings, ZMTPSession session) {
        ZwsTranslator translator = new ZwsTranslator(WebSocketRole.CLIENT, session);
        ClientUpgrade upgrade = new ClientUpgrade(host, path, settings, session, translator);
        HeadLimit limit = new HeadLimit(reason -> upgrade.fail(pipeline.context(upgrade), reason));
        pipeline.addLast(limit, upgrade.http, upgrade, translator);
    }

    private Subprotocols spoken() {
        return settings.isBare() ? new Subprotocols(List.of(ZwsProtocol.BARE)) : Subprotocols.of(session);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.fireChannelActive(); // the codec begins, and knows its mechanism
        if (!requested && ctx.channel().isActive()) {
            requested = true;
            ctx.writeAndFlush(request());
        }
    }

    private FullHttpRequest request() {
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
        HttpHeaders headers = request.headers();
        headers.set("Host", host)
                .set("Upgrade", "websocket")
                .set("Connection", "Upgrade")
                .set("Sec-WebSocket-Key", key)
                .set("Sec-WebSocket-Protocol", spoken().offer())
                .set("Sec-WebSocket-Version", "13");
        settings.headers().forEach(header -> headers.add(header.getKey(), header.getValue()));
        return request;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (failed || UpgradeRequest.isCut(message)) {
                return;
            }
            if (message instanceof HttpResponse response) {
                if (!isInterim(response) || response.decoderResult().isFailure()) {
                    protocol = check(response);
                } else if (++interim > MAX_INTERIM) {
                    throw ZMTPException.tooLarge("interim answers of HTTP", interim, MAX_INTERIM);
                }
            }
            if (message instanceof LastHttpContent && protocol != null) {
                translator.startInsteadOf(http, this, protocol);
            }
        } catch (ZMTPException e) {
            fail(ctx, e);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void fail(ChannelHandlerContext ctx, ZMTPException reason) {
        failed = true;
        ((UpgradedSession) session).heardBefore();
        ctx.fireExceptionCaught(reason);
    }

    /** Returns whether it is not the final answer (RFC 9110, section 15.2). */
    private static boolean isInterim(HttpResponse response) {
        int code = response.status().code();
        return response.status().codeClass() == HttpStatusClass.INFORMATIONAL && code != SWITCHING_PROTOCOLS;
    }

    private ZwsProtocol check(HttpResponse response) {
        Throwable failure = response.decoderResult().cause();
        if (failure != null) {
            throw ZMTPException.malformed(
                    "HTTP response", String.valueOf(failure.getMessage()), "one that RFC 9112 allows");
        }
        checkStatus(response);
        HttpHeaders headers = response.headers();
        if (!headers.containsValue(HttpHeaderNames.UPGRADE, HttpHeaderValues.WEBSOCKET, true)
                || !headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)) {
            throw ZMTPException.malformed("HTTP response", "without an upgrade", "Upgrade: websocket");
        }
        String accept = headers.get(HttpHeaderNames.SEC_WEBSOCKET_ACCEPT, "none");
        if (!accept.equals(AcceptKey.answer(key))) {
            throw ZMTPException.malformed("WebSocket accept key", accept, "the answer to the key of the request");
        }
        if (headers.contains(HttpHeaderNames.SEC_WEBSOCKET_EXTENSIONS)) {
            String extensions = headers.get(HttpHeaderNames.SEC_WEBSOCKET_EXTENSIONS);
            throw ZMTPException.of(Code.UNEXPECTED, "WebSocket extensions", extensions, "none");
        }
        String name = headers.get(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, "none");
        ZwsProtocol chosen = spoken().named(name);
        if (chosen == null) {
            throw ZMTPException.of(Code.MECHANISM, "subprotocol", name, spoken().expected());
        }
        return chosen;
    }

    private static void checkStatus(HttpResponse response) {
        if (response.status().code() != SWITCHING_PROTOCOLS) {
            // A front that is there while its service is not
            boolean isTransient = response.status().codeClass() == HttpStatusClass.SERVER_ERROR;
            throw ZMTPException.of(
                    isTransient ? Code.CLOSED : Code.PEER_ERROR, "HTTP status", response.status(), "101");
        }
    }
}
