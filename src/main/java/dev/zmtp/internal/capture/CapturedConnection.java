package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPMessage;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The packets of a connection, as those of TCP with sequence numbers that begin at 0 in each direction. Numbers
 * continue after dropped packets, so that a reader of the file notices a gap. Used on the event loop.
 */
final class CapturedConnection {

    private static final Payload.Run NO_PAYLOAD = new Payload.Run(new byte[0], 0);

    private final CaptureWriter writer;
    private final CapturedInterface at;
    private final TcpPackets tcp;
    private final boolean accepted;

    private long sentByClient;
    private long sentByServer;

    /** Number of reserved bytes that no block has used yet. */
    private long unused;

    /**
     * @param accepted whether the remote side has connected to this side
     */
    CapturedConnection(
            CaptureWriter writer,
            CapturedInterface at,
            @Nullable SocketAddress local,
            @Nullable SocketAddress remote,
            boolean accepted) {
        this.writer = writer;
        this.at = at;
        this.accepted = accepted;
        this.tcp = TcpPackets.between(accepted ? remote : local, accepted ? local : remote, writer::nextNumber);
    }

    /** Returns whether the side that has connected sends what arrives here, or what is sent. */
    private boolean fromClient(boolean in) {
        return in == accepted;
    }

    /** The connection has begun at this time. */
    void opened(long nanos, String comment) {
        boolean client = accepted; // what the client sends arrives if it was accepted
        control(client, nanos, TcpPackets.SYN, comment);
        control(!client, nanos, TcpPackets.SYN | TcpPackets.ACK, null);
        control(client, nanos, TcpPackets.ACK, null);
    }

    /** The connection was never of use. */
    void refused(long begun, long nanos, String cause) {
        control(accepted, begun, TcpPackets.SYN, null);
        control(!accepted, nanos, TcpPackets.RST | TcpPackets.ACK, cause);
    }

    /** The connection has ended. */
    void closed(long nanos, boolean byPeer, @Nullable String cause) {
        if (cause != null) {
            control(byPeer, nanos, TcpPackets.RST | TcpPackets.ACK, cause);
            return;
        }
        control(byPeer, nanos, TcpPackets.FIN | TcpPackets.ACK, null);
        control(!byPeer, nanos, TcpPackets.FIN | TcpPackets.ACK, null);
        control(byPeer, nanos, TcpPackets.ACK, null);
    }

    private void control(boolean in, long nanos, int flags, @Nullable String comment) {
        byte[] text = comment == null ? null : PcapngBlocks.text(comment);
        int length = PcapngBlocks.packetLength(tcp.headers(), text);
        if (writer.reserve(length)) {
            unused = length;
            try {
                writer.add(at, List.of(packet(in, nanos, flags, NO_PAYLOAD, 0, 0, text)));
            } finally {
                returnUnused();
            }
        } else {
            lost(in, 1, 0);
        }
        if ((flags & (TcpPackets.SYN | TcpPackets.FIN)) != 0) {
            advance(in, 1);
        }
    }

    /** Adds the packets of a message, if there is room for them before they are made. */
    void message(boolean in, long nanos, ZMTPMessage message) {
        long length = Payload.length(message);
        long segments = length / Payload.MAX_SEGMENT + 2L * message.size();
        long memory = Payload.captured(message, writer.snapLength()) + segments * overhead();
        if (writer.reserve(memory)) {
            unused = memory;
            try {
                data(in, nanos, Payload.of(message, writer.snapLength()));
            } finally {
                returnUnused();
            }
        } else {
            lost(in, Math.max(1, (length + Payload.MAX_SEGMENT - 1) / Payload.MAX_SEGMENT), length);
        }
    }

    /** Adds the packets of a payload. */
    void payload(boolean in, long nanos, Payload payload) {
        long memory = payload.captured() + (long) payload.segments() * overhead();
        if (writer.reserve(memory)) {
            unused = memory;
            try {
                data(in, nanos, payload);
            } finally {
                returnUnused();
            }
        } else {
            lost(in, payload.segments(), payload.length());
        }
    }

    private void returnUnused() {
        writer.unreserve(unused);
        unused = 0;
    }

    private void data(boolean in, long nanos, Payload payload) {
        List<byte[]> packets = new ArrayList<>(1);
        for (Payload.Run run : payload.runs()) {
            for (long start = 0; start < run.length(); start += Payload.MAX_SEGMENT) {
                int length = (int) Math.min(Payload.MAX_SEGMENT, run.length() - start);
                packets.add(packet(in, nanos, TcpPackets.PSH | TcpPackets.ACK, run, start, length, null));
                advance(in, length);
            }
        }
        writer.add(at, packets);
    }

    /** Counts packets that found no room. */
    private void lost(boolean in, long packets, long bytes) {
        writer.dropped(at, packets);
        advance(in, bytes);
    }

    private void advance(boolean in, long bytes) {
        if (fromClient(in)) {
            sentByClient += bytes;
        } else {
            sentByServer += bytes;
        }
    }

    private byte[] packet(
            boolean in, long nanos, int flags, Payload.Run run, long start, int length, byte @Nullable [] comment) {
        boolean client = fromClient(in);
        int captured = (int) Math.max(0, Math.min(length, run.bytes().length - start));
        int headers = tcp.headers();
        ByteBuffer block = PcapngBlocks.beginPacket(nanos, headers + captured, headers + length, comment);
        long sequence = client ? sentByClient : sentByServer;
        tcp.put(block, client, sequence, client ? sentByServer : sentByClient, flags, length);
        if (captured > 0) {
            block.put(run.bytes(), (int) start, captured);
        }
        byte[] made = PcapngBlocks.endPacket(block, in ? PcapngBlocks.IN : PcapngBlocks.OUT, comment);
        unused -= made.length;
        return made;
    }

    /** Returns the maximum number of bytes of a packet without payload and comment. */
    private int overhead() {
        return PcapngBlocks.packetLength(tcp.headers(), null) + Integer.BYTES;
    }
}
