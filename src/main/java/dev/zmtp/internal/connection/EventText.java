package dev.zmtp.internal.connection;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.runtime.Causes;
import dev.zmtp.internal.wire.PeerText;
import dev.zmtp.security.ZMTPAuthDecision;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Formats the details of a connection for operators on a single line, regardless of the bytes that the peer sent. */
public final class EventText {

    private final StringJoiner text;

    public EventText(String type) {
        text = new StringJoiner(", ", type + "{", "}");
    }

    /** Adds this side's socket type, and the address of the peer if it is known. */
    public EventText connection(ZMTPSocketType socketType, @Nullable SocketAddress peer) {
        text.add("socketType=" + socketType);
        if (peer != null) {
            text.add("peer=" + peer);
        }
        return this;
    }

    /**
     * Adds the result of the handshake. {@code generated} is the identity that was generated for a peer without an
     * identity, if known.
     */
    public EventText handshake(ZMTPHandshake handshake, @Nullable ByteBuffer generated) {
        ZMTPSocketType type = handshake.remoteSocketType();
        ByteBuffer announced = handshake.remoteIdentity();
        String identity = "anonymous";
        if (announced.hasRemaining()) {
            identity = PeerText.of(announced);
        } else if (generated != null) {
            identity = PeerText.of(generated) + " (generated)";
        }
        text.add("version=" + handshake.negotiatedVersion())
                .add("mechanism=" + handshake.mechanism())
                .add("peerType=" + (type == null ? "unknown" : type))
                .add("peerIdentity=" + identity);
        ZMTPMetadata others =
                handshake.metadata().without(ZMTPMetadata.SOCKET_TYPE).without(ZMTPMetadata.IDENTITY);
        if (others.size() > 0) {
            text.add("properties=" + others);
        }
        return this;
    }

    public EventText decision(@Nullable ZMTPAuthDecision decision) {
        if (decision != null && !decision.userId().isEmpty()) {
            text.add("userId=" + PeerText.of(UTF_8.encode(decision.userId())));
        }
        return this;
    }

    public EventText cause(Throwable cause) {
        text.add("cause=" + Causes.line(cause.toString()));
        return this;
    }

    EventText incomplete() {
        text.add("handshake not complete");
        return this;
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
