package dev.zmtp.testing;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/** What a codec fires, in words: {@code message 61 -} is a message of two frames, "a" and an empty one. */
public final class Fired {

    private Fired() {}

    /** A message, event or failure in words. Nothing is released. */
    public static String describe(Object fired) {
        if (fired instanceof ZMTPMessage message) {
            StringBuilder out = new StringBuilder(message.refCnt() == 1 ? "message" : "message not ours alone");
            message.forEach(frame -> out.append(' ').append(frame.isReadable() ? ByteBufUtil.hexDump(frame) : "-"));
            return out.toString();
        }
        if (fired instanceof ZMTPSubscription subscription) {
            return (subscription.isSubscribe() ? "subscribe " : "cancel ") + ByteBufUtil.hexDump(subscription.topic());
        }
        if (fired instanceof ZMTPMembership membership) {
            return (membership.isJoin() ? "join " : "leave ") + ByteBufUtil.hexDump(membership.group());
        }
        if (fired instanceof ByteBuf bytes) {
            return "bytes " + ByteBufUtil.hexDump(bytes);
        }
        if (fired instanceof ZMTPHandshakeSuccess success) {
            return "success " + success.handshake().negotiatedVersion();
        }
        if (fired instanceof ZMTPHandshakeFailure failure) {
            return "refused: " + describe(failure.cause());
        }
        if (fired instanceof ChannelInputShutdownEvent) {
            return "input shut down";
        }
        return fired instanceof Throwable failure ? describe(failure) : String.valueOf(fired);
    }

    private static String describe(Throwable failure) {
        if (failure instanceof ZMTPException known) {
            return known.code().name();
        }
        // Which subclass of IOException it is depends on the transport.
        return failure instanceof IOException
                ? "IOException"
                : failure.getClass().getSimpleName();
    }

    /** As {@link #describe(Object)}, and releases what it described. */
    public static String describeAndRelease(Object fired) {
        try {
            return describe(fired);
        } finally {
            ReferenceCountUtil.release(fired);
        }
    }

    /** What {@link #describe(Object)} returns for a message whose frames are these texts in UTF-8. */
    public static String message(String... frames) {
        return Arrays.stream(frames)
                .map(frame -> frame.isEmpty() ? "-" : ByteBufUtil.hexDump(frame.getBytes(StandardCharsets.UTF_8)))
                .collect(Collectors.joining(" ", "message ", ""));
    }
}
