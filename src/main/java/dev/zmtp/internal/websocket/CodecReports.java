package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.InputEvent;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.DecoderException;

/** Reports of the translator to the codec, or to the handlers after it if the codec was removed. */
final class CodecReports {

    private final ZMTPSession session;

    CodecReports(ZMTPSession session) {
        this.session = session;
    }

    private static boolean isThere(ChannelHandlerContext ctx) {
        return ctx.pipeline().get(ZMTPCodec.class) != null;
    }

    /** Reports bytes that are retained until more arrive. */
    void activity(ChannelHandlerContext ctx) {
        if (isThere(ctx)) {
            ctx.fireUserEventTriggered(InputEvent.Activity.BYTES);
        }
    }

    /** Reports the reason for the end, which the codec passes on after the messages that it has not decoded yet. */
    void failure(ChannelHandlerContext ctx, Throwable failure) {
        if (isThere(ctx)) {
            ctx.fireUserEventTriggered(new InputEvent.Failure(failure));
        } else {
            ctx.fireExceptionCaught(failure);
        }
    }

    /** Returns the failure with the address of the peer. */
    Throwable withPeer(Throwable failure) {
        String peer = String.valueOf(session.peerAddress());
        return failure instanceof ZMTPException known
                ? new ZMTPException(known.code(), known.getMessage() + ", peer " + peer, known.getCause())
                : new DecoderException("peer " + peer + ": " + failure, failure);
    }
}
