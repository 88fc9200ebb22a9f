package dev.zmtp.websocket;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.internal.runtime.RequestPath;
import dev.zmtp.internal.websocket.ServerUpgrade;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Handler that speaks ZMTP over WebSocket (RFC 45) at a path of an HTTP server. Add it behind the
 * {@link HttpServerCodec} of the server, and before the handlers that answer requests:
 *
 * <pre>{@code
 *   pipeline.addLast(
 *           new HttpServerCodec(),
 *           new ZMTPWebSocketUpgrade(
 *                   "/echo", ZMTPWebSocket.DEFAULT, () -> ZMTPCodec.of(ROUTER), echo -> echo.addLast(new Echo())),
 *           new Pages());
 * }</pre>
 *
 * <p>Requests for other paths are passed on. At a request for the path, all handlers behind the {@code HttpServerCodec}
 * leave the pipeline, and a new {@link ZMTPCodec} and the handlers of the service take their place. Handlers before the
 * {@code HttpServerCodec} stay, such as an {@code SslHandler}. A request that cannot become a WebSocket is answered with
 * its status, and then fails the handshake of the codec, which closes the channel. The handshake timeout of the codec
 * begins at the request.
 *
 * <p>An exception of {@code codecs} or {@code service}, or a missing {@code HttpServerCodec}, goes to
 * {@code exceptionCaught} and closes the channel.
 *
 * <p>Each channel needs its own instance, which is used on the event loop.
 */
public final class ZMTPWebSocketUpgrade extends ChannelInboundHandlerAdapter {

    private final String path;
    private final ZMTPWebSocket settings;
    private final Supplier<ZMTPCodec> codecs;
    private final Consumer<? super ChannelPipeline> service;

    /**
     * A handler for a channel.
     *
     * @param path path of the requests, such as {@code /echo}. Requests can have any query, unless the path has a query
     * @param settings allowed origins. Headers and {@code bare} are for clients, and are not used
     * @param codecs source of the codec for the channel, called at most once
     * @param service adds the handlers behind the codec, called after {@code codecs}
     * @throws IllegalArgumentException if the path does not begin with a slash, or is not printable ASCII without
     *     blanks and {@code #}
     */
    public ZMTPWebSocketUpgrade(
            String path,
            ZMTPWebSocket settings,
            Supplier<ZMTPCodec> codecs,
            Consumer<? super ChannelPipeline> service) {
        if (!RequestPath.isValid(path)) {
            throw new IllegalArgumentException("path: " + path + " (expected: " + RequestPath.EXPECTED + ")");
        }
        this.path = path;
        this.settings = Objects.requireNonNull(settings, "settings");
        this.codecs = Objects.requireNonNull(codecs, "codecs");
        this.service = Objects.requireNonNull(service, "service");
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpRequest request && RequestPath.matches(path, request.uri())) {
            try {
                replaceHandlers(ctx);
            } catch (Throwable e) {
                ReferenceCountUtil.release(message);
                ctx.fireExceptionCaught(e);
                ctx.close();
                return;
            }
        }
        ctx.fireChannelRead(message);
    }

    /** Replaces this handler and all handlers behind the HTTP codec. */
    private void replaceHandlers(ChannelHandlerContext ctx) {
        ChannelPipeline pipeline = ctx.pipeline();
        HttpServerCodec http = pipeline.get(HttpServerCodec.class);
        if (http == null) {
            throw new IllegalStateException("handler before " + ctx.name() + ": none (expected: HttpServerCodec)");
        }
        ZMTPCodec codec = codecs.get();
        boolean isBehind = false;
        for (ChannelHandler handler : List.copyOf(pipeline.toMap().values())) {
            if (isBehind && handler != this) {
                pipeline.remove(handler);
            }
            isBehind |= handler == http;
        }
        ServerUpgrade.addBehind(http, pipeline, path, settings, codec.session());
        pipeline.addLast(codec);
        service.accept(pipeline);
        pipeline.remove(this);
    }
}
