package dev.zmtp.codec;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import io.netty.buffer.ByteBufUtil;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Puts what an operator asks about a connection on one line, whatever bytes the peer sent. */
final class EventText {

    private final StringJoiner text;

    EventText(String type) {
        text = new StringJoiner(", ", type + "{", "}");
    }

    EventText connection(ZMTPSocketType socketType, @Nullable SocketAddress peer) {
        text.add("socketType=" + socketType);
        if (peer != null) {
            text.add("peer=" + peer);
        }
        return this;
    }

    EventText handshake(ZMTPHandshake handshake, String peerIdentity) {
        ZMTPSocketType type = handshake.remoteSocketType();
        text.add("version=" + handshake.negotiatedVersion())
                .add("mechanism=" + handshake.mechanism())
                .add("peerType=" + (type == null ? "unknown" : type))
                .add("peerIdentity=" + peerIdentity);
        ZMTPMetadata others =
                handshake.metadata().without(ZMTPMetadata.SOCKET_TYPE).without(ZMTPMetadata.IDENTITY);
        if (others.size() > 0) {
            text.add("properties=" + others);
        }
        return this;
    }

    EventText userId(String userId) {
        if (!userId.isEmpty()) {
            text.add("userId=" + bytes(StandardCharsets.UTF_8.encode(userId)));
        }
        return this;
    }

    EventText cause(Throwable cause) {
        text.add("cause=" + cause);
        return this;
    }

    EventText incomplete() {
        text.add("handshake not complete");
        return this;
    }

    /** As text if they are printable ASCII, otherwise in hex. */
    static String bytes(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        String text = new String(copy, StandardCharsets.ISO_8859_1);
        boolean printable = text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
        return printable ? '"' + text + '"' : "0x" + ByteBufUtil.hexDump(copy);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
