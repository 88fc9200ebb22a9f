package dev.zmtp.demo;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The ROUTER's side of one connection: notes the handshake, echoes messages of several frames and counts the others.
 */
final class RouterHandler extends ChannelInboundHandlerAdapter {

    private final Notes notes;
    private final AtomicLong received;

    /** Messages since the end of the last read: updating a shared counter for each would cost too much. */
    private long uncounted;

    RouterHandler(Notes notes, AtomicLong received) {
        this.notes = notes;
        this.received = received;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeSuccess success) {
            notes.add(show(success));
        } else if (event instanceof ZMTPHandshakeFailure failure) {
            if (hasLeft(failure.cause())) {
                notes.left(failure.cause());
            } else {
                notes.add(failure.cause());
            }
        }
        ctx.fireUserEventTriggered(event);
    }

    /** A peer that leaves may come again. */
    private static boolean hasLeft(Throwable cause) {
        return cause instanceof IOException
                || (cause instanceof ZMTPException reason && reason.code() == ZMTPException.Code.CLOSED);
    }

    private static String show(ZMTPHandshakeSuccess success) {
        ZMTPHandshake handshake = success.handshake();
        boolean anonymous = success.session().isPeerAnonymous();
        ZMTPMessage identity =
                ZMTPMessage.from(Unpooled.wrappedBuffer(success.session().peerIdentity()));
        return "version " + handshake.negotiatedVersion() + ", mechanism " + handshake.mechanism() + ", peer type "
                + handshake.remoteSocketType() + ", identity " + Demo.show(identity)
                + (anonymous ? " (generated, as the peer has none)" : "");
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ZMTPMessage message = (ZMTPMessage) msg;
        if (message.size() > 1) {
            ctx.write(message); // the codec releases it
        } else {
            uncounted++;
            message.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        received.addAndGet(uncounted);
        uncounted = 0;
        ctx.flush();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // A peer that leaves may reset the connection. What is lost with it is noticed elsewhere.
        if (!(cause instanceof IOException)) {
            notes.add(cause);
        }
        ctx.close();
    }
}
