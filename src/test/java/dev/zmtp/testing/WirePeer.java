package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBufUtil;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;

/**
 * A peer over TCP that sends exactly the bytes that a test gives it, and compares those that it gets. It knows nothing
 * of ZMTP but its greeting, so that a fault of ours cannot hide in it.
 */
public final class WirePeer implements AutoCloseable {

    private static final int GREETING = 64;
    private static final int SHORT_COMMAND = 0x04;

    private final Socket socket;
    private final DataInputStream in;

    private WirePeer(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
    }

    /** Connects to an endpoint and exchanges greetings as a peer of ZMTP 3.1 whose READY is this. */
    public static WirePeer connect(String endpoint, String ready) throws IOException {
        return new WirePeer(new Socket(
                        InetAddress.getLoopbackAddress(), URI.create(endpoint).getPort()))
                .shakeHands(ZMTPVersion.ZMTP31, ready);
    }

    /** Takes the next connection to this server, and exchanges greetings as a peer whose READY is this. */
    public static WirePeer accept(ServerSocket server, ZMTPVersion version, String ready) throws IOException {
        return new WirePeer(server.accept()).shakeHands(version, ready);
    }

    private WirePeer shakeHands(ZMTPVersion version, String ready) throws IOException {
        say(ScriptedPeer.SIGNATURE + "03 0" + version.minor() + " " + ScriptedPeer.NULL + ready);
        in.skipNBytes(GREETING);
        assertThat(in.readUnsignedByte()).isEqualTo(SHORT_COMMAND);
        in.skipNBytes(in.readUnsignedByte());
        return this;
    }

    /** Listens on a free port. */
    public static ServerSocket listen() throws IOException {
        ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
        server.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
        return server;
    }

    public static String endpoint(ServerSocket server) {
        return "tcp://127.0.0.1:" + server.getLocalPort();
    }

    /** Sends the bytes that {@code hex} spells. */
    public WirePeer say(String hex) throws IOException {
        socket.getOutputStream().write(Hex.bytes(hex));
        return this;
    }

    /** The next bytes must be those that {@code hex} spells. */
    public WirePeer hear(String hex) throws IOException {
        assertThat(hear(Hex.bytes(hex).length)).isEqualTo(Hex.of(hex));
        return this;
    }

    /** The hex dump of the next bytes. */
    public String hear(int length) throws IOException {
        return ByteBufUtil.hexDump(in.readNBytes(length));
    }

    /** The hex dump of what comes until the other side closes the connection. */
    public String hearToTheEnd() throws IOException {
        return ByteBufUtil.hexDump(in.readAllBytes());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
