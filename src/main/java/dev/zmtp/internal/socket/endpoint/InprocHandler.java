package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.capture.CapturedHandshake;
import dev.zmtp.internal.runtime.MessageRefusal;
import dev.zmtp.internal.socket.peer.PeerInfo;
import dev.zmtp.internal.transport.InprocTransport;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;

/**
 * Replaces the codec if messages are passed by reference. As in a handshake, both ends announce their type and
 * identity.
 */
public final class InprocHandler extends ChannelDuplexHandler {

    private final ZMTPSocketType type;
    private final ByteBuffer identity;
    private final boolean captured;

    /** @param captured whether the next handler captures messages, and needs both types and identities */
    InprocHandler(ZMTPSocketType type, ByteBuffer identity, boolean captured) {
        this.captured = captured;
        this.type = type;
        this.identity = type.announcesIdentity() ? identity : ByteBuffer.allocate(0);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        ctx.writeAndFlush(this);
        ctx.fireChannelActive();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object written, ChannelPromise promise) {
        if (!(written instanceof ZMTPMessage message)) {
            ctx.write(written, promise);
            return;
        }
        ZMTPMessage own;
        try {
            own = owned(message);
        } catch (IllegalReferenceCountException e) {
            promise.tryFailure(MessageRefusal.of(e, true));
            return;
        }
        if (!canPass(ctx, promise) || !InprocTransport.pass(ctx.channel(), own)) {
            ctx.write(own, promise);
        }
    }

    /**
     * Returns the message, or one with the same bytes and its own indices if somebody else has it or one of its frames.
     * Also if it has an encoded form, because the receiver can change its frames. Takes ownership of the message.
     *
     * @throws IllegalReferenceCountException if the message or a frame was released
     */
    private static ZMTPMessage owned(ZMTPMessage message) {
        int most = message.refCnt();
        int least = most;
        for (int i = 0; i < message.size(); i++) {
            int owners = message.frame(i).refCnt();
            most = Math.max(most, owners);
            least = Math.min(least, owners);
        }
        if (least == 0) {
            ReferenceCountUtil.safeRelease(message);
            throw new IllegalReferenceCountException(0);
        }
        return most > 1 || message.isEncodedOnce() ? ownIndices(message) : message;
    }

    /** A handler of the user sees all writes, and listeners of a promise do not expect to be called in a write. */
    private static boolean canPass(ChannelHandlerContext ctx, ChannelPromise promise) {
        return promise.isVoid() && ctx.pipeline().firstContext() == ctx;
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        InprocTransport.flushPassed(ctx.channel());
        ctx.flush();
    }

    /**
     * Returns a message with the same bytes and its own indices, to replace a message that has other owners. Takes
     * ownership of the given message.
     */
    private static ZMTPMessage ownIndices(ZMTPMessage shared) {
        try {
            return duplicate(shared);
        } finally {
            shared.release();
        }
    }

    /** Returns a message with the same bytes and its own indices. The given message remains owned by the caller. */
    public static ZMTPMessage duplicate(ZMTPMessage message) {
        ByteBuf[] frames = new ByteBuf[message.size()];
        int duplicated = 0;
        try {
            for (; duplicated < frames.length; duplicated++) {
                frames[duplicated] = message.frame(duplicated).retainedDuplicate();
            }
        } catch (Throwable e) { // the next frame was already released, or there is no memory
            for (int i = 0; i < duplicated; i++) {
                frames[i].release();
            }
            throw e;
        }
        return ZMTPMessage.from(frames);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object received) {
        if (received instanceof InprocHandler peer) {
            meet(ctx, peer);
        } else {
            ctx.fireChannelRead(received);
        }
    }

    private void meet(ChannelHandlerContext ctx, InprocHandler peer) {
        if (type.accepts(peer.type)) {
            if (captured) {
                ctx.fireUserEventTriggered(CapturedHandshake.inproc(type, identity, peer.type, peer.identity));
            }
            ctx.fireUserEventTriggered(new PeerInfo(
                    peer.identity, peer.type, null, null, null, ctx.channel().remoteAddress()));
        } else {
            ctx.fireExceptionCaught(ZMTPException.of(
                    ZMTPException.Code.SOCKET_TYPE, "socket type", peer.type, "one that fits to a " + type));
        }
    }
}
