package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/** What a codec fired, in words that can be compared and that are short however long a frame is. */
final class Words {

    private static final int SHOWN = 16;

    private Words() {}

    static String of(Object fired) {
        if (fired instanceof ZMTPMessage message) {
            StringBuilder out = new StringBuilder("message");
            message.forEach(frame -> append(out, frame));
            return out.toString();
        }
        if (fired instanceof ZMTPSubscription subscription) {
            return append(new StringBuilder(subscription.isSubscribe() ? "subscribe" : "cancel"), subscription.topic());
        }
        if (fired instanceof ZMTPMembership membership) {
            return append(new StringBuilder(membership.isJoin() ? "join" : "leave"), membership.group());
        }
        if (fired instanceof ZMTPException failure) {
            return failure.code() + " " + failure.getMessage();
        }
        throw new FuzzFailure("fired: " + fired + " (expected: what the codec documents)");
    }

    private static String append(StringBuilder out, ByteBuf bytes) {
        int length = bytes.readableBytes();
        out.append(' ').append(length).append(':');
        out.append(ByteBufUtil.hexDump(bytes, bytes.readerIndex(), Math.min(length, SHOWN)));
        if (length > SHOWN) {
            out.append('#').append(Integer.toHexString(ByteBufUtil.hashCode(bytes)));
        }
        return out.toString();
    }
}
