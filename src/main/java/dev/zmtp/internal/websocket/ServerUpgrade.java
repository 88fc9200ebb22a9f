package dev.zmtp.internal.websocket;

import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.UpgradedSession;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import org.jspecify.annotations.Nullable;

/**
 * Answers the request of a WebSocket client, starts the translator and leaves the pipeline together with the HTTP codec
 * before it. A request that is refused is answered, and then fails the handshake of the codec.
 */
public final class ServerUpgrade extends ChannelInboundHandlerAdapter {

    private final String path;
    private final ZMTPWebSocket settings;
    private final ZMTPSession session;
    private final ZwsTranslator translator;
    private final HttpServerCodec http;
    private @Nullable UpgradeRequest request;
    private @Nullable ZwsProtocol protocol;
    private boolean refused;

    private ServerUpgrade(String path, ZMTPWebSocket settings, ZMTPSession session, HttpServerCodec http) {
        this.path = path;
        this.settings = settings;
        this.session = session;
        this.http = http;
        this.translator = new ZwsTranslator(WebSocketRole.SERVER, session);
    }

    /** Adds the handlers that stand before the codec of a session, on a connection without other requests. */
    public static void addTo(ChannelPipeline pipeline, String path, ZMTPWebSocket settings, ZMTPSession session) {
        HttpServerCodec http = new HttpServerCodec(HeadLimit.MAX_LENGTH, HeadLimit.MAX_LENGTH, HeadLimit.MAX_LENGTH);
        ServerUpgrade upgrade = new ServerUpgrade(path, settings, session, http);
        HeadLimit limit =
                new HeadLimit(reason -> upgrade.refuse(pipeline.context(upgrade), UpgradeRequest.refusal(reason)));
        pipeline.addLast(limit, http, upgrade, upgrade.translator);
    }

    /** Adds the handlers that stand between an HTTP server's codec and the codec of a session. */
    public static void addBehind(
            HttpServerCodec http, ChannelPipeline pipeline, String path, ZMTPWebSocket settings, ZMTPSession session) {
        ServerUpgrade upgrade = new ServerUpgrade(path, settings, session, http);
        pipeline.addLast(upgrade, upgrade.translator);
    }

    /** Returns whether the connection has ended in the middle of a request. */
    public static boolean isCut(HttpRequest request) {
        return UpgradeRequest.isCut(request);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            if (refused || UpgradeRequest.isCut(message)) {
                return;
            }
            if (message instanceof HttpRequest head) {
                request = new UpgradeRequest(head);
                protocol = request.check(path, settings, Subprotocols.of(session));
            }
            if (message instanceof LastHttpContent && request != null && protocol != null) {
                upgrade(ctx, request, protocol);
            }
        } catch (UpgradeRequest.Refusal e) {
            refuse(ctx, e);
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void upgrade(ChannelHandlerContext ctx, UpgradeRequest accepted, ZwsProtocol chosen) {
        ctx.writeAndFlush(accepted.accepted(chosen));
        translator.startInsteadOf(http, this, chosen);
    }

    private void refuse(ChannelHandlerContext ctx, UpgradeRequest.Refusal refusal) {
        refused = true;
        ((UpgradedSession) session).heardBefore();
        ctx.writeAndFlush(refusal.response()).addListener(sent -> ctx.fireExceptionCaught(refusal.reason()));
    }
}
