package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.internal.wire.PeerText;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The result of a handshake, as the handshake of ZMTP 3.1 with NULL that a capture has for each connection (RFC 37,
 * sections "Greeting" and "The NULL Security Mechanism").
 *
 * @param protocol the version and the mechanism that were really spoken
 * @param user the user ID; empty if there is none
 * @param remoteType the type of the peer; null if it did not announce it
 * @param remoteMetadata the properties of the peer
 */
public record CapturedHandshake(
        String protocol,
        String user,
        ZMTPSocketType localType,
        ZMTPMetadata localMetadata,
        @Nullable ZMTPSocketType remoteType,
        ZMTPMetadata remoteMetadata) {

    private static final int MAJOR = 3;

    /** Everything of a capture is on the heap, because direct memory can be short while connections go on. */
    private static final ByteBufAllocator ALLOC = new UnpooledByteBufAllocator(false);

    /** Returns the handshake of a session, which is complete. */
    static CapturedHandshake of(ZMTPSession session) {
        ZMTPConfig config = session.config();
        ZMTPHandshake handshake = session.handshakeFuture().getNow();
        ByteBuffer identity = handshake.remoteIdentity();
        boolean announced = identity.hasRemaining() || handshake.metadata().value(ZMTPMetadata.IDENTITY) != null;
        return new CapturedHandshake(
                handshake.negotiatedVersion() + ", " + handshake.mechanism(),
                session.userId(),
                config.socketType(),
                own(config.socketType(), config.localIdentity(), config.properties()),
                handshake.remoteSocketType(),
                properties(handshake.remoteSocketType(), announced ? identity : null, handshake.metadata()));
    }

    /** Returns the handshake of two sockets within the process. */
    public static CapturedHandshake inproc(
            ZMTPSocketType localType, ByteBuffer localIdentity, ZMTPSocketType remoteType, ByteBuffer remoteIdentity) {
        return new CapturedHandshake(
                "inproc",
                "",
                localType,
                own(localType, localIdentity, ZMTPMetadata.EMPTY),
                remoteType,
                own(remoteType, remoteIdentity, ZMTPMetadata.EMPTY));
    }

    private static ZMTPMetadata own(ZMTPSocketType type, ByteBuffer identity, ZMTPMetadata added) {
        return properties(type, type.announcesIdentity() ? identity : null, added);
    }

    /** Returns the type and the identity, and the names of other properties, whose values can be secrets. */
    private static ZMTPMetadata properties(
            @Nullable ZMTPSocketType type, @Nullable ByteBuffer identity, ZMTPMetadata others) {
        ZMTPMetadata all = ZMTPMetadata.EMPTY;
        if (type != null) {
            all = all.with(ZMTPMetadata.SOCKET_TYPE, type.name());
        }
        if (identity != null) {
            all = all.with(ZMTPMetadata.IDENTITY, identity.duplicate());
        }
        for (int i = 0; i < others.size(); i++) {
            String name = others.name(i);
            if (!name.equalsIgnoreCase(ZMTPMetadata.SOCKET_TYPE) && !name.equalsIgnoreCase(ZMTPMetadata.IDENTITY)) {
                all = all.with(name, "[" + others.value(i).remaining() + " bytes]");
            }
        }
        return all;
    }

    /** Returns a line about the connection. */
    String describe(@Nullable String endpoint) {
        String user = this.user.isEmpty()
                ? ""
                : ", user " + PeerText.of(ByteBuffer.wrap(this.user.getBytes(StandardCharsets.UTF_8)));
        return (endpoint == null ? "" : endpoint + ": ") + protocol + user;
    }

    static Payload greeting() {
        ByteBuf out = Unpooled.buffer(Greeting.V3_LENGTH);
        Greeting.writeSignature(out, 0);
        out.writeByte(MAJOR);
        Greeting.writeRest(out, ZMTPVersion.ZMTP31, "NULL", false);
        return payload(out);
    }

    /** Returns the READY of the peer, or of this side. */
    Payload ready(boolean ofPeer) {
        return frame(Command.READY.body(ALLOC, ofPeer ? remoteMetadata : localMetadata));
    }

    static Payload command(String name, ByteBuf data) {
        return frame(Command.valueOf(name).body(ALLOC, data));
    }

    /** Returns the frame of a command. Takes ownership of the body. */
    private static Payload frame(ByteBuf body) {
        ByteBuf out = Unpooled.buffer(ZMTPFraming.MAX_HEADER + body.readableBytes());
        ZMTPFraming.V3.writeHeader(out, ZMTPFraming.COMMAND, body.readableBytes());
        out.writeBytes(body);
        body.release();
        return payload(out);
    }

    private static Payload payload(ByteBuf out) {
        byte[] bytes = new byte[out.readableBytes()];
        out.readBytes(bytes);
        return Payload.of(bytes);
    }
}
