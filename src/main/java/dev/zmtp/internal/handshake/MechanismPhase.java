package dev.zmtp.internal.handshake;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.FrameLog;
import dev.zmtp.internal.connection.PeerPolicy;
import dev.zmtp.internal.traffic.TrafficPhase;
import dev.zmtp.internal.wire.FrameReader;
import dev.zmtp.internal.wire.FrameWriter;
import dev.zmtp.security.ZMTPMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Passes commands between the peer and the mechanism until both sides are ready (RFC 23 and 37, "Framing"). */
final class MechanismPhase extends HandshakePhase {

    private final ZMTPVersion version;
    private final ZMTPMechanism mechanism;
    private final FrameReader reader;
    private final FrameWriter writer;
    private final @Nullable FrameLog frameLog;

    /**
     * The number of bytes of all received commands, because the mechanism can retain them until the handshake is over.
     */
    private long received;

    MechanismPhase(Connection connection, ZMTPVersion version, ZMTPMechanism mechanism) {
        super(connection);
        this.version = version;
        this.mechanism = mechanism;
        this.reader = new FrameReader(version, connection.memory()::reserve);
        this.writer = new FrameWriter(version);
        this.frameLog = FrameLog.of(connection.ctx().channel(), version);
    }

    @Override
    public void begin() {
        advance();
    }

    @Override
    public void read(ByteBuf in) {
        while (isCurrent() && reader.readHeader(in)) {
            checkHeader();
            ByteBuf command = reader.readBody(in, connection.ctx().alloc());
            if (command == null) {
                return;
            }
            receive(command);
            if (advance() && isCurrent() && in.isReadable()) {
                throw ZMTPException.of(
                        ZMTPException.Code.UNEXPECTED,
                        "bytes after a command",
                        in.readableBytes(),
                        "0 before our answer");
            }
        }
    }

    private void checkHeader() {
        if (!reader.isCommand()) {
            throw ZMTPException.of(
                    ZMTPException.Code.UNEXPECTED, "frame", "of a message", "a command during the handshake");
        }
        int limit = connection.config().maxHandshakeCommandLength();
        if (reader.length() > limit) {
            throw ZMTPException.tooLarge("handshake command length", reader.length(), limit);
        }
    }

    private void receive(ByteBuf command) {
        received += command.readableBytes();
        if (frameLog != null) {
            frameLog.receivedCommand(command);
        }
        try {
            refusing(() -> mechanism.receive(command));
        } finally {
            command.release();
        }
    }

    /** Runs a step of the mechanism, and sends the peer an error if the step fails. */
    private void refusing(Runnable step) {
        try {
            step.run();
        } catch (ZMTPException e) {
            refuse(e);
            throw e;
        }
    }

    private void refuse(ZMTPException cause) {
        if (!isCurrent()) {
            return; // an action of the mechanism before its failure has ended the connection and the mechanism
        }
        ByteBuf error = mechanism.refuse(cause);
        if (error != null) {
            send(frame(error));
        }
    }

    @Override
    public void resume(Runnable first) {
        refusing(first);
        advance();
    }

    /**
     * Sends the pending commands of the mechanism, and enters traffic if it is ready.
     *
     * @return whether there was a command
     */
    private boolean advance() {
        boolean sent = false;
        for (ByteBuf command = poll(); command != null; command = poll()) {
            sent = true;
            send(frame(command));
        }
        if (isCurrent() && mechanism.isReady()) {
            if (reader.isMidFrame()) {
                // It would be lost, because the peer did not wait for the command that is sent only now.
                throw ZMTPException.of(
                        ZMTPException.Code.UNEXPECTED, "bytes of a frame", "before the end of the handshake", "none");
            }
            connection
                    .handshake()
                    .succeed(handshake(), new TrafficPhase(connection, version, false, mechanism.cipher()));
        }
        return sent;
    }

    /** Returns the next command, unless an earlier send has ended the connection and the mechanism. */
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

    /** Takes ownership of {@code command} and returns its frame. */
    private ByteBuf frame(ByteBuf command) {
        try {
            if (frameLog != null) {
                frameLog.sentCommand(command);
            }
            ByteBuf header = connection.ctx().alloc().buffer(ZMTPFraming.MAX_HEADER);
            writer.writeHeader(header, ZMTPFraming.COMMAND, command.readableBytes());
            return Unpooled.wrappedBuffer(header, command);
        } catch (Throwable e) { // an attack exhausts direct memory first
            command.release();
            throw e;
        }
    }

    private ZMTPHandshake handshake() {
        ZMTPMetadata peer = mechanism.peerMetadata();
        ByteBuffer identity = Objects.requireNonNullElse(peer.value(ZMTPMetadata.IDENTITY), ByteBuffer.allocate(0));
        return new ZMTPHandshake(version, mechanism.name(), identity, PeerPolicy.socketType(peer), peer);
    }

    @Override
    public long kept() {
        return reader.kept() + received;
    }

    @Override
    public void end(@Nullable Throwable cause) {
        reader.close();
    }

    @Override
    public String toString() {
        return "mechanism " + mechanism.name();
    }
}
