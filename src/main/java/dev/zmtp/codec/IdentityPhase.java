package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPNull;
import dev.zmtp.wire.FrameReader;
import dev.zmtp.wire.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the identity frame that ends a ZMTP 1.0 or 2.0 handshake (RFC 13 and 15, "Greeting").
 *
 * <p>Any octets at all could be the start of an unversioned stream: those of HTTP, TLS, SSH or a port scanner among them.
 * They fail here, at their second octet, since a peer sends the flags of its identity frame as 00.
 */
final class IdentityPhase extends HandshakePhase {

    private static final int MIN_LONG_IDENTITY = 254;

    private enum Kind {
        /** Behind a versioned greeting. */
        VERSIONED,
        /** With no greeting before it. */
        UNVERSIONED,
        /** With no greeting from us either, so that a versioned peer's signature is the header of its identity. */
        WE_ARE_UNVERSIONED
    }

    private final ZMTPVersion version;
    private final Kind kind;
    private final @Nullable ZMTPSocketType peerType;
    private final ByteBuf alreadyReceived;
    private final FrameReader reader;

    private IdentityPhase(
            ZMTPCodec codec,
            ZMTPVersion version,
            Kind kind,
            @Nullable ZMTPSocketType peerType,
            ByteBuf alreadyReceived) {
        super(codec);
        this.version = version;
        this.kind = kind;
        this.peerType = peerType;
        this.alreadyReceived = alreadyReceived;
        this.reader = new FrameReader(version);
    }

    /** The identity that follows the greeting of a peer of type {@code peerType}. */
    static IdentityPhase versioned(ZMTPCodec codec, ZMTPVersion version, ZMTPSocketType peerType) {
        return new IdentityPhase(codec, version, Kind.VERSIONED, peerType, Unpooled.EMPTY_BUFFER);
    }

    /** The identity with which a 1.0 peer starts, the first octets of which were received. */
    static IdentityPhase unversioned(ZMTPCodec codec, ByteBuf received) {
        return new IdentityPhase(codec, ZMTPVersion.ZMTP10, Kind.UNVERSIONED, null, received);
    }

    /** The identity with which any peer starts that we talk to in 1.0. */
    static IdentityPhase ofUnversionedCodec(ZMTPCodec codec) {
        return new IdentityPhase(codec, ZMTPVersion.ZMTP10, Kind.WE_ARE_UNVERSIONED, null, Unpooled.EMPTY_BUFFER);
    }

    /** Appends our identity frame to {@code out}. */
    static void writeIdentity(ByteBuf out, ZMTPVersion version, ZMTPConfig config) {
        ByteBuffer identity = config.localIdentity();
        version.writeHeader(out, 0, identity.remaining());
        out.writeBytes(identity);
    }

    @Override
    void begin() {
        if (kind == Kind.WE_ARE_UNVERSIONED) {
            codec.checkDowngrade(version);
            ByteBuf greeting = codec.ctx().alloc().buffer();
            writeIdentity(greeting, version, codec.config());
            send(greeting);
        } else if (reader.readHeader(alreadyReceived)) {
            judge();
        }
    }

    @Override
    void read(ByteBuf in) {
        if (!reader.readHeader(in)) {
            return;
        }
        judge();
        ByteBuf identity = reader.readBody(in, codec.ctx().alloc());
        if (identity == null) {
            return;
        }
        byte[] octets = new byte[identity.readableBytes()];
        try {
            Greeting.checkIdentity(identity);
            identity.readBytes(octets);
        } finally {
            identity.release();
        }
        codec.succeed(
                new ZMTPHandshake(version, ZMTPNull.NAME, ByteBuffer.wrap(octets), peerType, ZMTPMetadata.EMPTY),
                new TrafficPhase(codec, version, kind != Kind.VERSIONED, null));
    }

    private void judge() {
        Greeting.checkIdentityLength(reader.length());
        int flags = reader.rawFlags();
        if (kind == Kind.VERSIONED) {
            if (reader.hasMore()) {
                throw ZMTPException.malformed("identity frame flags", hex(flags), "no MORE");
            }
            return;
        }
        boolean signature = reader.hasLongHeader() && (flags & 1) != 0;
        if (kind == Kind.WE_ARE_UNVERSIONED && signature) {
            return;
        }
        if (flags != 0) {
            throw ZMTPException.malformed("identity frame flags", hex(flags), "0x0, or a ZMTP signature before it");
        }
        if (reader.hasLongHeader() && reader.length() < MIN_LONG_IDENTITY) {
            throw ZMTPException.malformed("identity length", reader.length(), "one of 254 or 255 in a long header");
        }
    }

    @Override
    void end(@Nullable Throwable cause) {
        reader.close();
    }

    private static String hex(int octet) {
        return "0x" + Integer.toHexString(octet);
    }
}
