package dev.zmtp.internal.capture;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A packet of a recording.
 *
 * @param at number of the interface
 * @param nanos time since 1970
 * @param in whether it has arrived
 * @param connection the interface and the addresses and ports of both sides, the remote side first
 * @param sequence sequence number of TCP
 * @param acknowledged the next sequence number of the other side
 * @param payload the captured bytes after the headers, valid until the next block is read
 * @param missing number of bytes after them that are not captured
 */
record RecordedPacket(
        int at,
        long nanos,
        boolean in,
        String connection,
        int sequence,
        int acknowledged,
        int flags,
        ByteBuffer payload,
        int missing) {

    private static final int FIELDS = 20;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final int TCP = 6;
    private static final int MAX_LENGTH = 64 << 10;

    static RecordedPacket read(ByteBuffer body) throws IOException {
        if (body.remaining() < FIELDS) {
            throw PcapngReader.wrong("packet block length", body.remaining(), ">= " + FIELDS);
        }
        int at = body.getInt();
        long nanos = PcapngOptions.time(body);
        int captured = body.getInt();
        int length = body.getInt();
        if (captured < 0 || captured > body.remaining()) {
            throw PcapngReader.wrong("captured length", Integer.toUnsignedLong(captured), "<= " + body.remaining());
        }
        if (length < captured || length > MAX_LENGTH) {
            throw PcapngReader.wrong("packet length", Integer.toUnsignedLong(length), captured + " to " + MAX_LENGTH);
        }
        ByteBuffer packet = body.slice(body.position(), captured).order(ByteOrder.BIG_ENDIAN);
        body.position(Math.min(body.limit(), body.position() + PcapngBlocks.padded(captured)));
        int direction = new PcapngOptions(body).number(PcapngBlocks.OPTION_FLAGS, "packet flags");
        if (direction != PcapngBlocks.IN && direction != PcapngBlocks.OUT) {
            throw PcapngReader.wrong("packet flags", direction, "1 for in, or 2 for out");
        }
        return read(at, nanos, direction == PcapngBlocks.IN, packet, length);
    }

    private static RecordedPacket read(int at, long nanos, boolean in, ByteBuffer packet, int length)
            throws IOException {
        int addresses = addresses(packet, length);
        int ip = addresses == Integer.BYTES ? IPV4_HEADER : IPV6_HEADER;
        int tcp = packet.get(ip + 12) & 0xff;
        if (tcp != (TCP_HEADER / Integer.BYTES) << 4) {
            throw PcapngReader.wrong("TCP header", hex(tcp), "0x50, which is 20 bytes");
        }
        byte[] both = new byte[2 * addresses + Integer.BYTES]; // source, destination and both ports
        packet.get(ip - 2 * addresses, both);
        int headers = ip + TCP_HEADER;
        return new RecordedPacket(
                at,
                nanos,
                in,
                at + " " + key(both, addresses, in),
                packet.getInt(ip + 4),
                packet.getInt(ip + 8),
                packet.get(ip + 13),
                packet.slice(headers, packet.limit() - headers),
                length - packet.limit());
    }

    /** Checks the headers' lengths, and returns the length of an address. */
    private static int addresses(ByteBuffer packet, int length) throws IOException {
        int first = packet.hasRemaining() ? packet.get(0) & 0xff : 0;
        boolean old = first == 0x45;
        if (!old && first != 0x60) {
            throw PcapngReader.wrong("IP header", hex(first), "0x45 or 0x60, without options");
        }
        int ip = old ? IPV4_HEADER : IPV6_HEADER;
        if (packet.remaining() < ip + TCP_HEADER) {
            throw PcapngReader.wrong(
                    "captured length", packet.remaining(), ">= " + (ip + TCP_HEADER) + ", the headers");
        }
        int announced = old ? Short.toUnsignedInt(packet.getShort(2)) : ip + Short.toUnsignedInt(packet.getShort(4));
        if (announced != length) {
            throw PcapngReader.wrong("length in the IP header", announced, String.valueOf(length));
        }
        int protocol = packet.get(old ? 9 : 6) & 0xff;
        if (protocol != TCP) {
            throw PcapngReader.wrong("IP protocol", protocol, TCP + ", which is TCP");
        }
        if (old && TcpPackets.checksum(packet, 0) != 0) {
            throw PcapngReader.wrong(
                    "checksum of the IP header", hex(Short.toUnsignedInt(packet.getShort(10))), "that of the header");
        }
        return old ? Integer.BYTES : 16;
    }

    /** Returns the remote address and port, then the local ones, as a text that takes little memory. */
    private static String key(byte[] both, int addresses, boolean in) {
        int ports = 2 * addresses;
        String source = text(both, 0, addresses) + text(both, ports, Short.BYTES);
        String destination = text(both, addresses, addresses) + text(both, ports + Short.BYTES, Short.BYTES);
        return in ? source + destination : destination + source;
    }

    private static String text(byte[] bytes, int start, int length) {
        return new String(bytes, start, length, StandardCharsets.ISO_8859_1);
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Returns the number of bytes of the payload. */
    int length() {
        return payload.remaining() + missing;
    }
}
