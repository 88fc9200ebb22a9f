package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.internal.wire.PeerText;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The payload of a close frame, which is a status and a reason in UTF-8 (RFC 6455, section 5.5.1), or empty. */
final class ClosePayload {

    /** Status of a peer that goes away, such as a page that the user leaves. */
    private static final int GOING_AWAY = 1001;

    private ClosePayload() {}

    static byte[] of(int status) {
        return new byte[] {(byte) (status >> Byte.SIZE), (byte) status};
    }

    /**
     * Returns why the peer has closed; null for a normal end.
     *
     * @param refused true if the peer has closed before the end of the handshake
     * @throws ZMTPException if a peer may not send the payload
     */
    static @Nullable ZMTPException failure(byte[] payload, boolean refused) {
        if (payload.length < Short.BYTES) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        int status = Short.toUnsignedInt(bytes.getShort());
        check(status, bytes);
        if (status == WebSocketFrames.NORMAL || status == GOING_AWAY) {
            return null;
        }
        String reason = bytes.hasRemaining() ? " " + PeerText.of(bytes) : "";
        Code code = refused && !isTransient(status) ? Code.PEER_ERROR : Code.CLOSED;
        return ZMTPException.of(code, "status of the peer's close frame", status + reason, "1000, 1001 or none");
    }

    /** Returns whether the peer may accept a later connection: an error of its own, a restart, or too much work. */
    private static boolean isTransient(int status) {
        return status >= WebSocketFrames.INTERNAL_ERROR && status < 1015;
    }

    /** Checks against RFC 6455, section 7.4, and the registered statuses. */
    private static void check(int status, ByteBuffer reason) {
        boolean isReserved = status == 1004 || status == 1005 || status == 1006;
        boolean isRegistered = status >= 1000 && status < 1015 && !isReserved;
        if (!isRegistered && (status < 3000 || status >= 5000)) {
            throw ZMTPException.malformed("status of a close frame", status, "one that a peer may send");
        }
        if (!ByteBufUtil.isText(Unpooled.wrappedBuffer(reason), StandardCharsets.UTF_8)) {
            throw ZMTPException.malformed("reason of a close frame", PeerText.of(reason), "UTF-8");
        }
    }
}
