package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.internal.wire.PeerText;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The payload of a close frame, which is a status and a reason (RFC 6455, section 5.5.1), or empty. */
final class ClosePayload {

    /** Status of a peer that goes away, such as a page that the user leaves. */
    private static final int GOING_AWAY = 1001;

    private ClosePayload() {}

    static byte[] of(int status) {
        return new byte[] {(byte) (status >> Byte.SIZE), (byte) status};
    }

    /** Returns why the peer has closed; null for a normal end. */
    static @Nullable ZMTPException failure(byte[] payload) {
        if (payload.length < Short.BYTES) {
            return null;
        }
        ByteBuffer bytes = ByteBuffer.wrap(payload);
        int status = Short.toUnsignedInt(bytes.getShort());
        if (status == WebSocketFrames.NORMAL || status == GOING_AWAY) {
            return null;
        }
        String reason = bytes.hasRemaining() ? " " + PeerText.of(bytes) : "";
        return ZMTPException.of(Code.CLOSED, "status of the peer's close frame", status + reason, "1000");
    }
}
