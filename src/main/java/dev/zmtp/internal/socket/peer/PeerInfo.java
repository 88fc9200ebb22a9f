package dev.zmtp.internal.socket.peer;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.runtime.PingedSession;
import dev.zmtp.internal.socket.flight.FlightPeer;
import dev.zmtp.internal.websocket.ZwsTranslator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The facts about a peer from the handshake of its connection.
 *
 * @param identity the identity that the peer announced, read-only; empty if it announced none
 * @param type the type of its socket; null in ZMTP 1.0, and over WebSocket without a mechanism
 * @param version the version of ZMTP; null within the process, where ZMTP is not spoken
 * @param mechanism the name of the mechanism; null within the process
 * @param session the result of the handshake; null within the process
 * @param address its address
 */
public record PeerInfo(
        ByteBuffer identity,
        @Nullable ZMTPSocketType type,
        @Nullable ZMTPVersion version,
        @Nullable String mechanism,
        @Nullable ZMTPSession session,
        @Nullable SocketAddress address) {

    private static final ByteBuffer ANONYMOUS = ByteBuffer.allocate(0).asReadOnlyBuffer();

    /** Facts before the first handshake. */
    static final PeerInfo UNKNOWN = new PeerInfo(ANONYMOUS, null, null, null, null, null);

    public PeerInfo {
        identity = identity.hasRemaining() ? identity : ANONYMOUS; // shared, because there can be very many peers
    }

    /** Returns a name as text, in quotes if it is printable ASCII, otherwise in hex. */
    public static String text(ByteBuffer name) {
        byte[] bytes = new byte[name.remaining()];
        name.duplicate().get(bytes);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        boolean printable = text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
        return printable ? '"' + text + '"' : "0x" + ByteBufUtil.hexDump(bytes);
    }

    /** Returns the session if it has heartbeats; null within the process. */
    @Nullable
    PingedSession pinged() {
        return session instanceof PingedSession pinged ? pinged : null;
    }

    /** Returns whether the peer has sent a PING or a PONG. On the event loop. */
    boolean knowsPings() {
        PingedSession pinged = pinged();
        return pinged != null && pinged.knowsPings();
    }

    /** Returns the version and the mechanism, as text. */
    String protocol() {
        return version == null ? "inproc" : version + " " + mechanism;
    }

    /** Returns the facts that the Flight Recorder gets. */
    FlightPeer flight(String endpoint, ZMTPSocketType ofSocket, boolean accepted) {
        return new FlightPeer(endpoint, ofSocket, accepted, address, type, version, mechanism);
    }

    static PeerInfo of(ZMTPHandshakeSuccess success, Channel channel) {
        boolean isTypeKnown = !channel.hasAttr(ZwsTranslator.TYPE_UNKNOWN);
        return new PeerInfo(
                success.handshake().remoteIdentity(),
                isTypeKnown ? success.handshake().remoteSocketType() : null,
                success.handshake().negotiatedVersion(),
                success.handshake().mechanism(),
                success.session(),
                success.session().peerAddress());
    }
}
