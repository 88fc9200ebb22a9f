package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.internal.runtime.Causes;
import dev.zmtp.internal.runtime.MessageRefusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Captures the messages, subscriptions and memberships of a connection, after decryption. It stands after the codec, so
 * it never sees a command of a handshake.
 */
public final class CaptureHandler extends ChannelDuplexHandler {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.capture.ZMTPCapture");

    private enum State {
        NEW,
        OPEN,
        ENDED
    }

    private final CaptureWriter writer;
    private final @Nullable String endpoint;

    /** Writes before the end of the handshake, which the codec holds as well. Their memory is reserved. */
    private final Queue<Payload> held = new ArrayDeque<>();

    private State state = State.NEW;
    private long begun;
    private @Nullable CapturedConnection connection;
    private @Nullable Throwable failure;
    private boolean closedHere;

    /** @param endpoint text of the endpoint; null for the address that the channel is bound or connected to */
    public CaptureHandler(CaptureWriter writer, @Nullable String endpoint) {
        this.writer = writer;
        this.endpoint = endpoint;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        begun = now(ctx);
        ZMTPCodec codec = ctx.pipeline().get(ZMTPCodec.class);
        if (codec != null && codec.session().handshakeFuture().isSuccess()) { // added to a connection in use
            guarded(() -> opened(ctx, () -> CapturedHandshake.of(codec.session())));
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        state = State.ENDED;
        releaseHeld();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        begun = now(ctx);
        ctx.fireChannelActive();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeSuccess success) {
            guarded(() -> opened(ctx, () -> CapturedHandshake.of(success.session())));
        } else if (event instanceof CapturedHandshake handshake) {
            guarded(() -> opened(ctx, () -> handshake));
            return; // of this handler alone
        } else if (event instanceof ZMTPHandshakeFailure failed) {
            ZMTPSocketType type = failed.session().config().socketType();
            guarded(() -> refused(ctx, type, failed.cause()));
        } else if (event instanceof ChannelOutputShutdownEvent) {
            closedHere = true;
        }
        ctx.fireUserEventTriggered(event);
    }

    private long now(ChannelHandlerContext ctx) {
        return writer.now(ctx.channel().eventLoop());
    }

    private CapturedConnection begin(ChannelHandlerContext ctx, @Nullable ZMTPSocketType type) {
        boolean accepted = ctx.channel().parent() != null;
        SocketAddress local = ctx.channel().localAddress();
        SocketAddress remote = ctx.channel().remoteAddress();
        String at = endpoint == null ? String.valueOf(accepted ? local : remote) : endpoint;
        String how = accepted ? "bound" : "connected";
        CapturedInterface its = writer.at(at, type == null ? how : type + ", " + how);
        return new CapturedConnection(writer, its, local, remote, accepted);
    }

    /** Captures a handshake. If this fails, so does every message after it, which could not be read without it. */
    private void opened(ChannelHandlerContext ctx, Supplier<CapturedHandshake> handshake) {
        if (state != State.NEW) {
            return;
        }
        state = State.ENDED; // until all of it is captured
        try {
            connection = begin(ctx, handshake.get());
            state = State.OPEN;
        } finally {
            releaseHeld();
        }
    }

    private CapturedConnection begin(ChannelHandlerContext ctx, CapturedHandshake handshake) {
        CapturedConnection its = begin(ctx, handshake.localType());
        long now = now(ctx);
        its.opened(begun, handshake.describe(endpoint));
        boolean clientIn = ctx.channel().parent() != null; // the greetings and READYs of the client come first
        its.payload(clientIn, now, CapturedHandshake.greeting());
        its.payload(!clientIn, now, CapturedHandshake.greeting());
        its.payload(clientIn, now, handshake.ready(clientIn));
        its.payload(!clientIn, now, handshake.ready(!clientIn));
        for (Payload payload = held.poll(); payload != null; payload = held.poll()) {
            writer.unreserve(memory(payload));
            its.payload(false, now, payload);
        }
        return its;
    }

    private void refused(ChannelHandlerContext ctx, @Nullable ZMTPSocketType type, Throwable cause) {
        if (state == State.NEW) {
            state = State.ENDED;
            releaseHeld();
            begin(ctx, type).refused(begun, now(ctx), reason(cause));
        }
    }

    /** Returns a text for the file. The texts of an application's exceptions can contain anything. */
    private static String reason(Throwable failure) {
        Throwable cause = Causes.unwrapped(failure);
        boolean isKnown = cause instanceof ZMTPException || cause instanceof IOException;
        String text = isKnown ? cause.getMessage() : null;
        return text == null ? cause.getClass().getName() : text;
    }

    /** Returns the memory that a held payload has reserved, at least a byte, so that their number is bounded. */
    private static long memory(Payload payload) {
        return payload.captured() + 1;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object received) {
        failure = null; // the connection goes on, so it was not the cause of its end
        capture(ctx, true, received);
        ctx.fireChannelRead(received);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object written, ChannelPromise promise) {
        capture(ctx, false, written);
        ctx.write(written, promise);
    }

    private void capture(ChannelHandlerContext ctx, boolean in, Object what) {
        if (state != State.ENDED) {
            guarded(() -> captureNow(ctx, in, what));
        }
    }

    /** Runs a part of the capture, whose failure must not affect the connection. */
    private void guarded(Runnable part) {
        try {
            part.run();
        } catch (Throwable e) { // such as that there is no memory for a copy, or a message that was already released
            writer.dropped(1);
            logger.debug("A part of a connection at {} cannot be captured", endpoint, e);
        }
    }

    private void captureNow(ChannelHandlerContext ctx, boolean in, Object what) {
        if (what instanceof ZMTPMessage message) {
            message(ctx, in, message);
        } else if (what instanceof ZMTPSubscription subscription) {
            command(ctx, in, subscription.isSubscribe() ? "SUBSCRIBE" : "CANCEL", subscription.topic());
        } else if (what instanceof ZMTPMembership membership) {
            command(ctx, in, membership.isJoin() ? "JOIN" : "LEAVE", membership.group());
        }
    }

    private void message(ChannelHandlerContext ctx, boolean in, ZMTPMessage message) {
        CapturedConnection its = connection;
        if (its == null) {
            hold(in, Payload.captured(message, writer.snapLength()), () -> Payload.of(message, writer.snapLength()));
        } else {
            its.message(in, now(ctx), message);
        }
    }

    private void command(ChannelHandlerContext ctx, boolean in, String name, ByteBuf data) {
        Payload payload = CapturedHandshake.command(name, data);
        CapturedConnection its = connection;
        if (its == null) {
            hold(in, payload.captured(), () -> payload);
        } else {
            its.payload(in, now(ctx), payload);
        }
    }

    private void hold(boolean in, long most, Supplier<Payload> payload) {
        if (in) {
            return; // no message arrives before the end of a handshake
        }
        if (!writer.reserve(most + 1)) {
            writer.dropped(1);
            return;
        }
        long reserved = most + 1;
        try {
            Payload made = payload.get();
            held.add(made);
            reserved -= memory(made);
        } finally {
            writer.unreserve(reserved);
        }
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        closedHere = true;
        ctx.close(promise);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!(cause instanceof MessageRefusal)) { // with which the connection goes on
            failure = cause;
        }
        ctx.fireExceptionCaught(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        Throwable cause = failure;
        CapturedConnection its = connection;
        if (its != null && state == State.OPEN) {
            boolean byPeer = !closedHere && !(cause instanceof ZMTPException);
            guarded(() -> its.closed(now(ctx), byPeer, cause == null ? null : reason(cause)));
        } else if (cause != null) {
            guarded(() -> refused(ctx, null, cause)); // within the process, where there is no event for it
        }
        state = State.ENDED;
        releaseHeld();
        ctx.fireChannelInactive();
    }

    private void releaseHeld() {
        for (Payload payload = held.poll(); payload != null; payload = held.poll()) {
            writer.unreserve(memory(payload));
        }
    }
}
