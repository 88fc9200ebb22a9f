package dev.zmtp.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPSizeEstimator;
import dev.zmtp.internal.runtime.RequestPath;
import dev.zmtp.internal.websocket.ServerUpgrade;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Handler that speaks ZMTP over WebSocket (RFC 45) at a path of an HTTP server. Add it directly
 * behind the {@link HttpServerCodec} of the server:
 *
 * <pre>{@code
 *   pipeline.addLast(
 *           new HttpServerCodec(),
 *           new ZMTPWebSocketUpgrade(
 *                   "/echo", ZMTPWebSocket.DEFAULT, () -> ZMTPCodec.of(ROUTER), echo -> echo.addLast(new Echo())),
 *           new Pages());
 * }</pre>
 *
 * <p>Requests for other paths are passed on. When a request for the path arrives, all handlers after the
 * {@code HttpServerCodec} are removed from the pipeline. A new {@link ZMTPCodec} and the handlers of the service take
 * their place. Handlers before the {@code HttpServerCodec}, such as an {@code SslHandler}, remain.
 *
 * <p>A request that cannot become a WebSocket is answered with an HTTP error status, and then fails the handshake of
 * the codec, which closes the channel. The handshake timeout of the codec begins at the request. If a request for the
 * path arrives before the response to an earlier request is written, {@code exceptionCaught} receives a
 * {@link ZMTPException}, and the channel is closed.
 *
 * <p>The channel is already active, so the handlers of the service get no {@code channelActive}. Netty can already have
 * cached the channel's size estimator, so set {@link ZMTPSizeEstimator} on the bootstrap if other threads write
 * messages.
 *
 * <p>An exception of {@code codecs} or {@code service}, or a missing {@code HttpServerCodec}, is logged by Netty, and
 * closes the channel.
 *
 * <p>A server can have several of these handlers, each for its path. Other handlers between the {@code HttpServerCodec}
 * and this handler are removed as well. Such a handler must not write parts of responses itself, like a
 * {@code ChunkedWriteHandler} does, because these parts bypass this handler, which counts responses.
 *
 * <p>Each channel needs its own instance, which is used on the event loop.
 */
public final class ZMTPWebSocketUpgrade extends ChannelDuplexHandler {

    private enum State {
        PASSING_ON,
        REPLACED,
        FAILED
    }

    private final String path;
    private final ZMTPWebSocket settings;
    private final Supplier<ZMTPCodec> codecs;
    private final Consumer<? super ChannelPipeline> service;

    private State state = State.PASSING_ON;

    /** Requests that were passed on, without those whose response is written. */
    private int unanswered;

    /** True if another response to the same request follows the last one. */
    private boolean isInterim;

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

    /**
     * Called by Netty.
     *
     * @throws IllegalStateException if the handler has an executor other than the event loop of the channel
     */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (ctx.executor() != ctx.channel().eventLoop()) {
            throw new IllegalStateException(
                    "executor: " + ctx.executor() + " (expected: the event loop of the channel)");
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (state == State.FAILED) {
            ReferenceCountUtil.release(message);
        } else if (state == State.PASSING_ON && message instanceof HttpRequest request) {
            if (RequestPath.matches(path, request.uri()) && !ServerUpgrade.isCut(request)) {
                upgrade(ctx, request);
            } else {
                unanswered++;
                ctx.fireChannelRead(message);
            }
        } else {
            ctx.fireChannelRead(message);
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof HttpResponse response) {
            isInterim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
        }
        if (message instanceof LastHttpContent && !isInterim && unanswered > 0) {
            unanswered--;
        }
        ctx.write(message, promise);
    }

    private void upgrade(ChannelHandlerContext ctx, HttpRequest request) {
        if (!ctx.channel().isActive()) {
            state = State.FAILED; // it came with a request whose response closes the channel
            ReferenceCountUtil.release(request);
            return;
        }
        if (unanswered > 0) { // and its response would arrive between frames
            fail(
                    ctx,
                    ctx,
                    request,
                    ZMTPException.of(Code.UNEXPECTED, "requests without a response", unanswered, "none"));
            return;
        }
        List<String> before;
        try {
            before = replaceHandlers(ctx);
        } catch (Throwable e) {
            // Not to a new codec, which would take it for a failure of the handshake
            ChannelHandlerContext last = ctx.pipeline().lastContext();
            fail(ctx, last == null ? ctx : last, request, e);
            return;
        }
        state = State.REPLACED;
        ctx.fireChannelRead(request);
        before.forEach(name -> removeFrom(ctx.pipeline(), name)); // anything that they have kept follows the request
    }

    /** @param from the context behind which handlers get the failure */
    private void fail(ChannelHandlerContext ctx, ChannelHandlerContext from, HttpRequest request, Throwable failure) {
        state = State.FAILED;
        ReferenceCountUtil.release(request);
        from.fireExceptionCaught(failure);
        ctx.close();
    }

    /**
     * Replaces the handlers behind this handler. Returns the names of this handler and of those between it and the HTTP
     * codec, which leave when the request is passed on.
     */
    private List<String> replaceHandlers(ChannelHandlerContext ctx) {
        ChannelPipeline pipeline = ctx.pipeline();
        HttpServerCodec http = pipeline.get(HttpServerCodec.class);
        if (http == null) {
            throw new IllegalStateException("handler before " + ctx.name() + ": none (expected: HttpServerCodec)");
        }
        List<String> names = pipeline.names();
        int first = names.indexOf(pipeline.context(http).name()) + 1;
        int self = names.indexOf(ctx.name());
        ZMTPCodec codec = Objects.requireNonNull(codecs.get(), "codec");
        names.subList(self + 1, names.size()).forEach(name -> removeFrom(pipeline, name));
        ServerUpgrade.addBehind(http, pipeline, path, settings, codec.session());
        pipeline.addLast(codec);
        if (pipeline.context(codec) == null) {
            throw new IllegalStateException("codec: one that cannot be added (expected: a new one)");
        }
        service.accept(pipeline);
        return names.subList(first, self + 1);
    }

    /** Removes a handler, unless the channel was closed in the meantime. */
    private static void removeFrom(ChannelPipeline pipeline, String name) {
        if (pipeline.get(name) != null) {
            pipeline.remove(name);
        }
    }
}
