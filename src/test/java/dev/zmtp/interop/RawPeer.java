package dev.zmtp.interop;

import dev.zmtp.testing.Hex;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A peer that sends exactly the bytes that a test gives it, and nothing else: not even PONG. */
final class RawPeer implements AutoCloseable {

    /** The greeting and the READY of an anonymous DEALER of ZMTP 3.1. */
    static final String DEALER_OF_31 = """
            ff 00*7 01 7f / 03 01 / "NULL" 00*16 / 00 / 00*31
            04 29 / 05 "READY"
              0b "Socket-Type" 00 00 00 06 "DEALER"
              08 "Identity" 00 00 00 00
            """;

    private final Socket socket;

    /** Connects to {@code port} on the loopback interface. */
    RawPeer(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) Patience.LIMIT.toMillis());
    }

    /** Connects to {@code port}, with a receive buffer of {@code receiveBuffer} bytes. */
    RawPeer(int port, int receiveBuffer) throws IOException {
        socket = new Socket();
        socket.setReceiveBufferSize(receiveBuffer);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout((int) Patience.LIMIT.toMillis());
    }

    /** Sends the bytes that {@code hex} spells. */
    void say(String hex) throws IOException {
        socket.getOutputStream().write(Hex.bytes(hex));
    }

    /** Reads this many bytes and forgets them. */
    void hear(int bytes) throws IOException {
        socket.getInputStream().skipNBytes(bytes);
    }

    /** Reads until the other side closes the connection, and returns what it sent, with a character for each byte. */
    String hearToTheEnd() throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
