package dev.zmtp.internal.capture;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Headers of IP and TCP for the packets of a connection (RFC 791, 8200 and 9293). Addresses are those of the
 * connection, if it has any.
 */
final class TcpPackets {

    static final int FIN = 0x01;
    static final int SYN = 0x02;
    static final int RST = 0x04;
    static final int PSH = 0x08;
    static final int ACK = 0x10;

    private static final int TCP_HEADER = 20;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;

    private static final int TCP = 6;
    private static final int TIME_TO_LIVE = 64;

    /** Ports of connections without addresses. */
    private static final int SERVER_PORT = 5555;

    private static final int FIRST_PORT = 1_024;
    private static final int PORTS = 0x10000 - FIRST_PORT;
    private static final byte[] SERVER = {127, 0, 0, 1};

    /** 127.0.0.2, the first address of a client. The next address follows when all ports were used. */
    private static final int CLIENT = 0x7f000002;

    private final byte[] client;
    private final byte[] server;
    private final int clientPort;
    private final int serverPort;

    private TcpPackets(byte[] client, int clientPort, byte[] server, int serverPort) {
        this.client = client;
        this.clientPort = clientPort;
        this.server = server;
        this.serverPort = serverPort;
    }

    /** @param number counts connections without addresses of IP */
    static TcpPackets between(@Nullable SocketAddress client, @Nullable SocketAddress server, IntSupplier number) {
        if (client instanceof InetSocketAddress from && server instanceof InetSocketAddress to) {
            InetAddress source = from.getAddress();
            InetAddress destination = to.getAddress();
            if (source != null && destination != null && source.getClass() == destination.getClass()) {
                return new TcpPackets(source.getAddress(), from.getPort(), destination.getAddress(), to.getPort());
            }
        }
        long counted = Integer.toUnsignedLong(number.getAsInt());
        int address = CLIENT + (int) (counted / PORTS);
        byte[] invented = ByteBuffer.allocate(Integer.BYTES).putInt(address).array();
        return new TcpPackets(invented, FIRST_PORT + (int) (counted % PORTS), SERVER, SERVER_PORT);
    }

    /** Returns the length of both headers. */
    int headers() {
        return TCP_HEADER
                + (client.length == Inet4Address.getLoopbackAddress().getAddress().length ? IPV4_HEADER : IPV6_HEADER);
    }

    /** Puts both headers of a packet with {@code payload} bytes. Sequence numbers are those of TCP modulo 2^32. */
    void put(ByteBuffer packet, boolean fromClient, long sequence, long acknowledged, int flags, int payload) {
        byte[] source = fromClient ? client : server;
        byte[] destination = fromClient ? server : client;
        ByteOrder order = packet.order();
        packet.order(ByteOrder.BIG_ENDIAN);
        if (source.length == SERVER.length) {
            putIpv4(packet, source, destination, payload);
        } else {
            packet.putInt(0x60000000).putShort((short) (TCP_HEADER + payload));
            packet.put((byte) TCP).put((byte) TIME_TO_LIVE).put(source).put(destination);
        }
        packet.putShort((short) (fromClient ? clientPort : serverPort));
        packet.putShort((short) (fromClient ? serverPort : clientPort));
        packet.putInt((int) sequence).putInt((flags & ACK) == 0 ? 0 : (int) acknowledged);
        packet.put((byte) ((TCP_HEADER / 4) << 4)).put((byte) flags).putShort((short) 0xffff);
        packet.putInt(0); // checksum, which Wireshark does not check by default, and urgent pointer
        packet.order(order);
    }

    private static void putIpv4(ByteBuffer packet, byte[] source, byte[] destination, int payload) {
        int start = packet.position();
        packet.putShort((short) 0x4500).putShort((short) (IPV4_HEADER + TCP_HEADER + payload));
        packet.putInt(0x4000); // no identification, no fragments
        packet.put((byte) TIME_TO_LIVE)
                .put((byte) TCP)
                .putShort((short) 0)
                .put(source)
                .put(destination);
        packet.putShort(start + 10, checksum(packet, start));
    }

    /** Returns the checksum of a header, which is 0 if the header has it already. */
    static short checksum(ByteBuffer packet, int start) {
        int sum = 0;
        for (int i = 0; i < IPV4_HEADER; i += Short.BYTES) {
            sum += packet.getShort(start + i) & 0xffff;
        }
        sum = (sum & 0xffff) + (sum >>> 16);
        return (short) ~(sum + (sum >>> 16));
    }
}
