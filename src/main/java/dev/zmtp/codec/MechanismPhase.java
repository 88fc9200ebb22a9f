package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.wire.FrameReader;
import dev.zmtp.wire.Greeting;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Carries commands between the peer and the mechanism until both sides are ready (RFC 23 and 37, "Framing"). */
final class MechanismPhase extends HandshakePhase {

    private static final int MAX_SHOWN = 64;

    private final ZMTPVersion version;
    private final ZMTPMechanism mechanism;
    private final FrameReader reader;

    MechanismPhase(ZMTPCodec codec, ZMTPVersion version, ZMTPMechanism mechanism) {
        super(codec);
        this.version = version;
        this.mechanism = mechanism;
        this.reader = new FrameReader(version);
    }

    @Override
    void begin() {
        advance();
    }

    @Override
    void read(ByteBuf in) {
        while (isCurrent() && reader.readHeader(in)) {
            judge();
            ByteBuf command = reader.readBody(in, codec.ctx().alloc());
            if (command == null) {
                return;
            }
            receive(command);
            if (advance() && isCurrent() && in.isReadable()) {
                throw ZMTPException.of(
                        ZMTPException.Code.UNEXPECTED,
                        "octets behind a command",
                        in.readableBytes(),
                        "0 until our answer is there");
            }
        }
    }

    private void judge() {
        if (!reader.isCommand()) {
            throw ZMTPException.of(
                    ZMTPException.Code.UNEXPECTED, "frame", "of a message", "a command during the handshake");
        }
        int limit = codec.config().maxHandshakeCommandLength();
        if (reader.length() > limit) {
            throw ZMTPException.tooLarge("handshake command length", reader.length(), limit);
        }
    }

    private void receive(ByteBuf command) {
        try {
            mechanism.receive(command);
        } catch (ZMTPException e) {
            refuse(e);
            throw e;
        } finally {
            command.release();
        }
    }

    private void refuse(ZMTPException cause) {
        if (!isCurrent()) {
            return; // what the mechanism did before it failed has ended the connection, and the mechanism with it
        }
        ByteBuf error = mechanism.refuse(cause);
        if (error != null) {
            send(frame(error));
        }
    }

    /**
     * Sends what the mechanism has to say, and goes on to traffic if that was all. From the mechanism, at any time.
     *
     * @return whether there was something to say
     */
    boolean advance() {
        boolean said = false;
        for (ByteBuf command = poll(); command != null; command = poll()) {
            said = true;
            send(frame(command));
        }
        if (isCurrent() && mechanism.isReady()) {
            if (reader.isMidFrame()) {
                // It would be lost: the peer did not wait for what it is told only now.
                throw ZMTPException.of(
                        ZMTPException.Code.UNEXPECTED, "octets of a frame", "before the end of the handshake", "none");
            }
            codec.succeed(handshake(), new TrafficPhase(codec, version, false, mechanism.cipher()));
        }
        return said;
    }

    /** The next command, unless what was sent before has ended the connection, and the mechanism with it. */
    private @Nullable ByteBuf poll() {
        if (!isCurrent()) {
            return null;
        }
        try {
            return mechanism.poll();
        } catch (ZMTPException e) {
            refuse(e);
            throw e;
        }
    }

    private ByteBuf frame(ByteBuf command) {
        ByteBuf header = codec.ctx().alloc().buffer(ZMTPVersion.MAX_FRAME_HEADER);
        version.writeHeader(header, ZMTPVersion.COMMAND, command.readableBytes());
        return Unpooled.wrappedBuffer(header, command);
    }

    private ZMTPHandshake handshake() {
        ZMTPMetadata peer = mechanism.peerMetadata();
        ByteBuffer identity = Objects.requireNonNullElse(peer.value(ZMTPMetadata.IDENTITY), ByteBuffer.allocate(0));
        return new ZMTPHandshake(version, mechanism.name(), identity, socketType(peer), peer);
    }

    /** Checks what any mechanism must check of the peer's metadata, whoever read it. */
    static void check(ZMTPCodec codec, ZMTPMetadata peer) {
        ZMTPSocketType type = socketType(peer);
        String name = peer.text(ZMTPMetadata.SOCKET_TYPE);
        if (type != null) {
            codec.checkSocketType(type);
        } else if (name != null) {
            throw ZMTPException.of(
                    ZMTPException.Code.SOCKET_TYPE,
                    "socket type",
                    shown(name),
                    "one that " + codec.config().socketType() + " talks to");
        }
        ByteBuffer identity = peer.value(ZMTPMetadata.IDENTITY);
        if (identity != null) {
            Greeting.checkIdentity(Unpooled.wrappedBuffer(identity));
        }
    }

    /** The peer's octets, so that they do no harm in a log. */
    private static String shown(String name) {
        return name.substring(0, Math.min(name.length(), MAX_SHOWN)).replaceAll("[^!-~]", "?");
    }

    private static @Nullable ZMTPSocketType socketType(ZMTPMetadata peer) {
        String name = peer.text(ZMTPMetadata.SOCKET_TYPE);
        return name == null ? null : ZMTPSocketType.ofName(name);
    }

    @Override
    void end(@Nullable Throwable cause) {
        reader.close();
    }
}
