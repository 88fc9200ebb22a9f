package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.internal.runtime.RateLimitedLog;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.util.internal.logging.InternalLogLevel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.SocketAddress;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs that an accepted peer was refused after its handshake, or was disconnected because of data that it sent, memory
 * that it took, or its silence. The peer's own side sees only a closed connection, and a program without a listener
 * would have no explanation for lost messages. A connector logs the same in its {@link ConnectLog}.
 */
public final class EndedPeers {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.EndedPeers");

    private final RateLimitedLog log;
    private final RateLimitedLog refusals;

    /** Uses {@code nanoTime} as the clock for the limit of log lines. */
    public EndedPeers(LongSupplier nanoTime) {
        log = log(nanoTime);
        refusals = log(nanoTime);
    }

    private static RateLimitedLog log(LongSupplier nanoTime) {
        return new RateLimitedLog(logger, InternalLogLevel.WARN, nanoTime);
    }

    /** Called when the connection of a peer has ended for {@code cause}. */
    public void ended(PeerHandler link, Peer peer, Throwable cause) {
        if (link.wasAccepted() && isOurs(cause)) {
            log.log(link.endpoint(), "disconnected " + peer.address() + ": " + cause.getMessage(), null);
        }
    }

    /** Called when a connection has ended for {@code cause} before its peer has joined. The codec logs other causes. */
    public void refused(PeerHandler link, Throwable cause) {
        if (link.wasAccepted() && cause instanceof ZMTPSocketException) {
            refusals.log(link.endpoint(), "refused " + address(link) + ": " + cause.getMessage(), null);
        }
    }

    /** Returns the address of the peer, which a handler before the codec can have learned from a proxy. */
    static @Nullable SocketAddress address(PeerHandler link) {
        SocketAddress known = link.channel().attr(ZMTPCodec.PEER_ADDRESS).get();
        return known == null ? link.channel().remoteAddress() : known;
    }

    /** Returns whether this side has ended the connection for a reason caused by the peer. */
    private static boolean isOurs(Throwable cause) {
        return cause instanceof ZMTPException why
                ? why.code() != ZMTPException.Code.CLOSED
                : cause instanceof ZMTPSocketException refusal
                        && refusal.reason() == ZMTPSocketException.Reason.ILLEGAL_STATE;
    }
}
