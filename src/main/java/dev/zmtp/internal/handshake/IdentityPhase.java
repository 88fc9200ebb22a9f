package dev.zmtp.internal.handshake;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.traffic.TrafficPhase;
import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.internal.wire.FrameWriter;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.security.ZMTPNull;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the identity frame that ends a ZMTP 1.0 or 2.0 handshake (RFC 13 and 15, "Greeting").
 *
 * <p>Any bytes could be the start of an unversioned stream, including those of HTTP, TLS, SSH or a port scanner. Other
 * protocols fail here at their second byte, because a peer sends the flags of its identity frame as 00.
 */
final class IdentityPhase extends HandshakePhase {

    private static final int MIN_LONG_IDENTITY = 254;

    private enum Kind {
        /** The identity follows a greeting. */
        AFTER_GREETING,
        /** The peer sent no greeting. */
        WITHOUT_GREETING,
        /**
         * Neither side sent a greeting, because this side is limited to 1.0. The signature of a later peer is the
         * header of its identity.
         */
        BOTH_UNVERSIONED
    }

    private final ZMTPVersion version;
    private final Kind kind;
    private final @Nullable ZMTPSocketType peerType;
    private final ByteBuf alreadyReceived;
    private final FrameReader reader;

    private IdentityPhase(
            Connection connection,
            ZMTPVersion version,
            Kind kind,
            @Nullable ZMTPSocketType peerType,
            ByteBuf alreadyReceived) {
        super(connection);
        this.version = version;
        this.kind = kind;
        this.peerType = peerType;
        this.alreadyReceived = alreadyReceived;
        this.reader = new FrameReader(version, connection.memory()::reserve);
    }

    /** Returns the phase for the identity that follows the greeting of a peer of type {@code peerType}. */
    static IdentityPhase afterGreeting(Connection connection, ZMTPVersion version, ZMTPSocketType peerType) {
        return new IdentityPhase(connection, version, Kind.AFTER_GREETING, peerType, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Returns the phase for the identity that starts the stream of a 1.0 peer. {@code received} is the part that has
     * arrived.
     */
    static IdentityPhase withoutGreeting(Connection connection, ByteBuf received) {
        return new IdentityPhase(connection, ZMTPVersion.ZMTP10, Kind.WITHOUT_GREETING, null, received);
    }

    /** Returns the phase for the identity that starts the stream of any peer if this side is limited to 1.0. */
    static IdentityPhase bothUnversioned(Connection connection) {
        return new IdentityPhase(connection, ZMTPVersion.ZMTP10, Kind.BOTH_UNVERSIONED, null, Unpooled.EMPTY_BUFFER);
    }

    /** Appends this side's identity frame to {@code out}. */
    static void writeIdentity(ByteBuf out, ZMTPVersion version, ZMTPConfig config) {
        new FrameWriter(version).write(out, 0, Unpooled.wrappedBuffer(config.localIdentity()));
    }

    @Override
    public void begin() {
        if (kind == Kind.BOTH_UNVERSIONED) {
            connection.policy().checkVersion(version, connection.mechanism());
            ByteBuf greeting = connection.ctx().alloc().buffer();
            writeIdentity(greeting, version, connection.config());
            send(greeting);
        } else if (reader.readHeader(alreadyReceived)) {
            checkHeader();
        }
    }

    @Override
    public void read(ByteBuf in) {
        if (!reader.readHeader(in)) {
            return;
        }
        checkHeader();
        ByteBuf identity = reader.readBody(in, connection.ctx().alloc());
        if (identity == null) {
            return;
        }
        byte[] bytes = new byte[identity.readableBytes()];
        try {
            identity.readBytes(bytes);
        } finally {
            identity.release();
        }
        connection
                .handshake()
                .succeed(
                        new ZMTPHandshake(version, ZMTPNull.NAME, ByteBuffer.wrap(bytes), peerType, ZMTPMetadata.EMPTY),
                        new TrafficPhase(connection, version, kind != Kind.AFTER_GREETING, null));
    }

    private void checkHeader() {
        Greeting.checkIdentityLength(reader.length());
        int flags = reader.rawFlags();
        if (kind == Kind.AFTER_GREETING) {
            if (reader.hasMore()) {
                throw ZMTPException.malformed("identity frame flags", hex(flags), "no MORE");
            }
            return;
        }
        boolean signature = reader.hasLongHeader() && (flags & 1) != 0;
        if (kind == Kind.BOTH_UNVERSIONED && signature) {
            return;
        }
        if (flags != 0) {
            if (!reader.hasLongHeader()) {
                throw Greeting.notZmtp((int) (reader.length() + 1), flags);
            }
            throw ZMTPException.malformed("identity frame flags", hex(flags), "0x0, or a ZMTP signature before it");
        }
        if (reader.hasLongHeader() && reader.length() < MIN_LONG_IDENTITY) {
            throw ZMTPException.malformed("identity length", reader.length(), "one of 254 or 255 in a long header");
        }
    }

    @Override
    public void end(@Nullable Throwable cause) {
        reader.close();
    }

    private static String hex(int flags) {
        return "0x" + Integer.toHexString(flags);
    }

    @Override
    public String toString() {
        return "identity";
    }
}
