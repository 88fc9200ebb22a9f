package dev.zmtp.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A PULL over TCP that accepts connections, ends each handshake, and then reads only what a test asks it to. */
public final class StoppedPull implements AutoCloseable {

    private static final String HANDSHAKE = """
            ff 00*7 01 7f / 03 %02x / "NULL" 00*16 / 00 / 00*31
            04 1a / 05 "READY" 0b "Socket-Type" 00 00 00 04 "PULL"
            """;

    private static final int GREETING = 64;

    private final String handshake;
    private final ServerSocket server;

    /** Speaks ZMTP 3.0, whose silence after a PING means nothing. */
    public StoppedPull() throws IOException {
        this(0);
    }

    /** Speaks ZMTP 3 with this minor version. */
    public StoppedPull(int minor) throws IOException {
        handshake = HANDSHAKE.formatted(minor);
        server = new ServerSocket();
        server.setReceiveBufferSize(8 << 10);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        server.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
    }

    public String endpoint() {
        return "tcp://127.0.0.1:" + server.getLocalPort();
    }

    /** Accepts a connection, and ends its handshake. */
    public Socket accept() throws IOException {
        Socket accepted = server.accept();
        accepted.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
        accepted.getOutputStream().write(Hex.bytes(handshake));
        accepted.getInputStream().skipNBytes(GREETING);
        frame(accepted); // READY
        return accepted;
    }

    /** Reads a short frame, and returns its body. */
    public static byte[] frame(Socket accepted) throws IOException {
        byte[] header = accepted.getInputStream().readNBytes(2);
        return accepted.getInputStream().readNBytes(header[1]);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
