package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.internal.wire.Command;
import dev.zmtp.internal.wire.Greeting;
import dev.zmtp.internal.wire.Metadata;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A connection of a recording: its handshake, and the order of its packets. */
final class RecordedConnection {

    /** Receives the entries of a connection. */
    interface Entries {

        /** Returns the number of a connection whose handshake is complete. */
        int nextNumber();

        void add(RecordedConnection from, ZMTPRecording.Kind kind, List<byte[]> frames);
    }

    private static final int MAX_PROPERTIES = 4_096;

    final String endpoint;
    final boolean accepted;
    private final Entries entries;
    private final Direction received;
    private final Direction sent;

    /** Counted from 1; 0 before the end of the handshake. */
    int number;

    @Nullable
    ZMTPSocketType socketType;

    @Nullable
    ZMTPSocketType peerType;

    ByteBuffer routingId = ByteBuffer.allocate(0);

    /** @param accepted whether the remote side has connected to this side */
    RecordedConnection(String endpoint, boolean accepted, Entries entries, UnfinishedBytes unfinished) {
        this.endpoint = endpoint;
        this.accepted = accepted;
        this.entries = entries;
        this.received = new Direction(true, unfinished);
        this.sent = new Direction(false, unfinished);
    }

    /** Reads a packet with or without bytes. Returns false if packets before it are missing. */
    boolean read(RecordedPacket packet) throws IOException {
        return packet.in() ? received.read(packet, sent) : sent.read(packet, received);
    }

    /** The connection has ended. Returns false if messages are not whole. */
    boolean end() {
        if (number > 0) {
            entries.add(this, ZMTPRecording.Kind.DOWN, List.of());
        }
        return isWhole();
    }

    /** Returns whether all messages are whole. */
    boolean isWhole() {
        return received.frames.isWhole() && sent.frames.isWhole();
    }

    /** Forgets the beginnings of messages. */
    void forget() {
        received.frames.forget();
        sent.frames.forget();
    }

    private void up() {
        if (received.isReady && sent.isReady) {
            number = entries.nextNumber();
            entries.add(this, ZMTPRecording.Kind.UP, List.of());
        }
    }

    private void ready(boolean in, ByteBuf body) throws IOException {
        ZMTPMetadata properties = Metadata.read(body, MAX_PROPERTIES);
        ZMTPSocketType type = type(properties.value(ZMTPMetadata.SOCKET_TYPE));
        if (!in) {
            if (type == null) {
                throw new IOException("socket type: none (expected: the type of the recorded socket)");
            }
            socketType = type;
            return;
        }
        peerType = type;
        ByteBuffer identity = properties.value(ZMTPMetadata.IDENTITY);
        if (identity != null) {
            Greeting.checkIdentityLength(identity.remaining());
            byte[] copy = new byte[identity.remaining()]; // which does not refer to the rest of a long READY
            identity.get(copy);
            routingId = ByteBuffer.wrap(copy);
        }
    }

    private static @Nullable ZMTPSocketType type(@Nullable ByteBuffer value) throws IOException {
        if (value == null) {
            return null;
        }
        String name = Unpooled.wrappedBuffer(value).toString(StandardCharsets.ISO_8859_1);
        ZMTPSocketType type = ZMTPSocketType.ofName(name);
        if (type == null) {
            throw new IOException("socket type: " + Command.printable(name) + " (expected: a type of ZMTP)");
        }
        return type;
    }

    /** Packets from the peer, or to the peer. */
    private final class Direction implements RecordedFrames.Sink {

        private final boolean in;
        private final RecordedFrames frames;
        private int next;
        private boolean isReady;

        /** Whether a part of the handshake is missing, so that nothing can be read. */
        private boolean isLost;

        Direction(boolean in, UnfinishedBytes unfinished) {
            this.in = in;
            this.frames = new RecordedFrames(this, unfinished);
        }

        boolean read(RecordedPacket packet, Direction other) throws IOException {
            boolean follows = packet.sequence() == next;
            if (!follows) { // a message was dropped, and the next begins here
                isLost |= !isReady;
                frames.forget();
            }
            boolean counts = packet.has(TcpPackets.SYN) || packet.has(TcpPackets.FIN);
            next = packet.sequence() + packet.length() + (counts ? 1 : 0);
            if (packet.length() > 0 && !isLost) {
                frames.read(packet);
            }
            return follows && (!packet.has(TcpPackets.ACK) || packet.acknowledged() == other.next);
        }

        @Override
        public void command(byte[] body) throws IOException {
            ByteBuf in = Unpooled.wrappedBuffer(body);
            try {
                command(Command.read(in), in);
            } catch (ZMTPException e) {
                throw new IOException(e.getMessage(), e);
            }
        }

        private void command(Command command, ByteBuf data) throws IOException {
            if (!isReady) {
                check(command == Command.READY, command, "READY");
                ready(in, data);
                isReady = true;
                up();
                return;
            }
            boolean subscribes = command == Command.SUBSCRIBE || command == Command.JOIN;
            boolean cancels = command == Command.CANCEL || command == Command.LEAVE;
            check(subscribes || cancels, command, "SUBSCRIBE, CANCEL, JOIN or LEAVE");
            byte[] topic = new byte[data.readableBytes()];
            data.readBytes(topic);
            add(subscribes ? ZMTPRecording.Kind.SUBSCRIBED : ZMTPRecording.Kind.CANCELLED, List.of(topic));
        }

        @Override
        public void message(List<byte[]> message) throws IOException {
            check(isReady, "a message", "READY");
            add(in ? ZMTPRecording.Kind.RECEIVED : ZMTPRecording.Kind.SENT, message);
        }

        private void add(ZMTPRecording.Kind kind, List<byte[]> its) {
            if (number > 0) { // otherwise the other side's READY is lost
                entries.add(RecordedConnection.this, kind, its);
            }
        }

        private static void check(boolean holds, Object found, String expected) throws IOException {
            if (!holds) {
                throw PcapngReader.wrong("frame", found, expected);
            }
        }
    }
}
