package dev.zmtp.soak;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Behind the codec at either end of a connection: sends its stream while the channel is writable, checks what arrives,
 * does the faults of its end, and closes when it has what it waits for.
 *
 * <p>A stream ends with a message that says so. Where both send, the server's end is sent after the peer's, so that a
 * peer that got it knows that the server has got all.
 */
final class CodecEnd extends ChannelInboundHandlerAdapter {

    private static final int BURST = 64;

    /** With {@code SOME}, one of this many writes is flushed. */
    private static final int SOME = 10;

    private final Link link;
    private final Plan plan;
    private final Totals totals;
    private final Random shape;
    private final boolean server;
    private final String name;
    private final EndFault fault;
    private final int count;
    private final boolean sends;
    private final boolean waitsForEnd;
    private final Link.Inbox inbox;
    private final Deque<ZMTPMessage> kept = new ArrayDeque<>();

    private @Nullable OutgoingStream outgoing;
    private @Nullable BatchFlusher flusher;
    private @Nullable Future<?> pause;
    private boolean sending;
    private boolean pumping;
    private boolean pumpAgain;
    private boolean pumpDue;
    private boolean peerEnded;
    private boolean faultDone;
    private int seen;
    private boolean shaken;

    /** The server's end of a link, or the peer's. */
    CodecEnd(Link link, boolean server, EndFault fault, Totals totals, Random shape) {
        this.link = link;
        this.plan = link.plan();
        this.server = server;
        this.fault = fault;
        this.totals = totals;
        this.shape = shape;
        this.name = server ? "server" : "our peer";
        this.count = server ? plan.down() : plan.up();
        this.sends = server ? plan.pattern().isDown() : plan.pattern().isUp();
        this.waitsForEnd = server && plan.pattern().isUp();
        this.inbox = link.new Inbox(name, true);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        link.opened(ctx.channel());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        link.closed(ctx.channel());
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        totals.count("connections of the codec", name);
        link.progressed();
        link.note(name + " has connection " + ctx.channel());
        if (!server && plan.pattern() == Pattern.SUB_PUB) {
            ctx.writeAndFlush(ZMTPSubscription.subscribe(Numbered.TOPIC));
        }
        if (!server && sends) {
            for (int i = Math.min(plan.early(), count); i > 0; i--) {
                write(ctx, false);
            }
            ctx.flush();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
        if (evt instanceof ZMTPHandshakeSuccess success) {
            shaken = true;
            totals.count("handshakes", name + ", " + success.handshake().negotiatedVersion());
            link.note(name + " has shaken hands: " + success.handshake());
            sending = sends && plan.pattern() != Pattern.SUB_PUB;
            pump(ctx);
        } else if (evt instanceof ZMTPHandshakeFailure failure) {
            handshakeFailed(failure.cause());
        }
    }

    private void handshakeFailed(Throwable cause) {
        totals.count("handshakes failed", name + ", peer " + plan.kind() + ", " + kindOf(cause));
        link.note(name + ": handshake failed: " + cause);
        noteBudget(cause);
        // A peer may give up a handshake that takes it too long, and JeroMQ sometimes never begins one.
        boolean givenUp = server && !plan.kind().isOurs() && (isClosed(cause) || neverSpoke(cause));
        if (!link.isBroken() && !link.isClosing() && !givenUp) {
            link.violated(name + ": handshake failed, although nothing was done to the connection: " + cause);
        }
        judgeKind(cause);
    }

    /** The server ends connections, so that the rest keeps less than its budget. The peers hear of it later. */
    private void noteBudget(Throwable cause) {
        if (server && isOverBudget(cause)) {
            totals.count("faults", name + ", MEMORY_BUDGET");
            link.broke(name + " needs the memory");
        }
    }

    private static boolean isOverBudget(Throwable cause) {
        return cause instanceof ZMTPException failure && failure.code() == ZMTPException.Code.MEMORY_BUDGET;
    }

    /** JeroMQ gives such a connection up after as long as our handshake takes at most: either may be first. */
    private boolean neverSpoke(Throwable cause) {
        return plan.kind() == Implementation.JEROMQ
                && cause instanceof ZMTPException failure
                && failure.code() == ZMTPException.Code.HANDSHAKE_TIMEOUT
                && String.valueOf(failure.getMessage()).contains("nothing received");
    }

    private static boolean isClosed(Throwable cause) {
        if (cause instanceof ZMTPException failure) {
            return failure.code() == ZMTPException.Code.CLOSED;
        }
        return cause instanceof IOException;
    }

    private static String kindOf(Throwable cause) {
        return cause instanceof ZMTPException failure
                ? "ZMTPException " + failure.code()
                : cause.getClass().getSimpleName();
    }

    /** What no fault of ours can cause is wrong at any time. */
    private void judgeKind(Throwable cause) {
        if (!isPossible(cause)) {
            link.violated(name + ": unexpected: " + cause);
        }
    }

    private boolean isPossible(Throwable cause) {
        if (cause instanceof ZMTPException failure) {
            return switch (failure.code()) {
                case CLOSED, HEARTBEAT_TIMEOUT, HANDSHAKE_TIMEOUT -> true;
                case MEMORY_BUDGET -> server;
                default -> false;
            };
        }
        return cause instanceof IOException;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ZMTPMessage message) {
            boolean end = Numbered.isEnd(message);
            kept.add(message);
            while (kept.size() > (end ? 0 : plan.kept())) {
                judgeOldest();
            }
            seen(ctx);
            if (end) {
                peerEnded(ctx);
            }
        } else if (msg instanceof ZMTPSubscription) {
            link.note(name + " received " + msg);
            sending = sends;
            pump(ctx);
        } else {
            link.violated(name + ": received " + msg + " (expected: a message or a subscription)");
        }
    }

    /** Looked at late, so that a buffer that is used again too early is noticed. */
    private void judgeOldest() {
        ZMTPMessage oldest = kept.remove();
        inbox.take(oldest);
        oldest.release();
    }

    private void peerEnded(ChannelHandlerContext ctx) {
        peerEnded = true;
        if (server) {
            link.ended();
        }
        if (!server) {
            link.closing(name);
            ctx.close();
        } else if (sends) {
            pump(ctx);
        } else if (!plan.kind().isOurs() || !plan.kind().hasSocket()) {
            link.closing(name);
            ctx.close(); // a peer of ours that has a socket shuts its output down, and we close by that
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        pump(ctx);
    }

    /** Sends what can be sent now. Not all at once, so that others of the loop have their turn. */
    private void pump(ChannelHandlerContext ctx) {
        if (pumping) {
            pumpAgain = true; // a flush has made room
            return;
        }
        if (!sending || !ctx.channel().isActive()) {
            return;
        }
        pumping = true;
        pumpAgain = false;
        boolean more = true;
        for (int i = 0; i < BURST && more; i++) {
            more = ctx.channel().isWritable() && next(ctx);
        }
        if (plan.flush() != Plan.Flush.BATCH_FLUSHER) {
            ctx.flush();
        }
        pumping = false;
        if ((more || pumpAgain) && !pumpDue) {
            pumpDue = true;
            ctx.executor().execute(() -> {
                pumpDue = false;
                pump(ctx);
            });
        }
    }

    /** Writes the next message, if there is one; returns whether there was. */
    private boolean next(ChannelHandlerContext ctx) {
        long written = outgoing == null ? 0 : outgoing.written();
        if (written < count) {
            write(ctx, false);
            seen(ctx);
            return ctx.channel().isActive();
        }
        if (written == count && (!waitsForEnd || peerEnded)) {
            write(ctx, true);
        }
        return false;
    }

    private void write(ChannelHandlerContext ctx, boolean end) {
        if (outgoing == null) {
            outgoing = link.newOutgoing(true);
            flusher = new BatchFlusher(ctx.channel());
        }
        OutgoingStream stream = outgoing;
        Numbered numbered = stream.next(end);
        ZMTPMessage message = numbered.toMessage(ctx.alloc(), shape);
        totals.count("messages sent", name);
        totals.add("bytes sent", name, message.readableBytes());
        ctx.write(message).addListener((ChannelFuture written) -> completed(written, stream, numbered));
        switch (plan.flush()) {
            case EACH -> ctx.flush();
            case SOME -> {
                if (shape.nextInt(SOME) == 0) {
                    ctx.flush();
                }
            }
            case BATCH_FLUSHER -> flusher.flush();
        }
    }

    private void completed(ChannelFuture written, OutgoingStream stream, Numbered numbered) {
        String wrong = stream.completed(numbered.number(), written.isSuccess());
        if (wrong != null) {
            link.violated(name + ": " + wrong);
        }
        if (!numbered.end()) {
            return;
        }
        link.note(name + " has sent " + numbered + ": " + (written.isSuccess() ? "done" : written.cause()));
        if (!server && plan.pattern() == Pattern.PUSH_PULL && written.isSuccess()) {
            link.closing(name);
            if (written.channel() instanceof SocketChannel socket) {
                socket.shutdownOutput();
            }
        }
    }

    /** Counts a message that was written or received, and does the fault that is due after it. */
    private void seen(ChannelHandlerContext ctx) {
        seen++;
        if (faultDone || fault.kind() == EndFault.Kind.NONE || seen <= fault.after() || link.isClosing()) {
            return;
        }
        faultDone = true;
        totals.count("faults", name + ", " + fault.kind());
        switch (fault.kind()) {
            case NONE -> {}
            case PAUSE -> {
                link.note(name + " reads no more for " + fault.millis() + " ms");
                ctx.channel().config().setAutoRead(false);
                pause = ctx.executor()
                        .schedule(
                                () -> ctx.channel().config().setAutoRead(true), fault.millis(), TimeUnit.MILLISECONDS);
            }
            case CLOSE -> {
                link.broke(name + " closes");
                ctx.close();
            }
            case RESET -> {
                link.broke(name + " resets");
                ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
                ctx.close();
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        while (!kept.isEmpty()) {
            judgeOldest();
        }
        if (pause != null) {
            pause.cancel(false);
        }
        if (!shaken && server && plan.kind() == Implementation.JEROMQ) {
            link.note("a JeroMQ that connected has not shaken hands");
        }
        link.note(name + " lost connection " + ctx.channel());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        totals.count("exceptions", name + ", " + kindOf(cause));
        link.note(name + ": " + cause);
        noteBudget(cause);
        if (!link.isBroken() && !(link.isClosing() && cause instanceof IOException)) {
            link.violated(name + ": failed, although nothing was done to the connection: " + cause);
        }
        judgeKind(cause);
        ctx.close();
    }
}
