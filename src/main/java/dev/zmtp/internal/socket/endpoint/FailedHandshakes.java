package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.socket.ZMTPSocketEvent;
import java.net.SocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reports connections that did not complete their handshake. Scanners make many of them, so the first few accepted
 * connections of a second are reported individually, and the others are counted.
 */
public final class FailedHandshakes {

    /** Maximum number of individual reports per second. */
    private static final int EACH = 10;

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final SocketContext context;
    private final EndedPeers endedPeers;
    private final Map<String, Counted> counted = new LinkedHashMap<>();
    private int failed;
    private boolean scheduled;

    public FailedHandshakes(SocketContext context, EndedPeers endedPeers) {
        this.context = context;
        this.endedPeers = endedPeers;
    }

    public void failed(PeerHandler link, Throwable cause) {
        if (!context.isClosed()) { // otherwise that is the reason
            endedPeers.refused(link, cause);
        }
        String endpoint = link.endpoint();
        SocketAddress address = EndedPeers.address(link);
        if (link.wasAccepted() && ++failed > EACH) {
            Counted before = counted.get(endpoint);
            counted.put(endpoint, new Counted(address, cause, before == null ? 0 : before.unreported + 1));
        } else {
            context.fire(new ZMTPSocketEvent.HandshakeFailed(endpoint, address, Backoff.kindOf(cause), cause, 0));
        }
        if (failed > 0 && !scheduled) {
            scheduled = true;
            context.schedule(this::secondIsOver, SECOND);
        }
    }

    private void secondIsOver() {
        scheduled = false;
        failed = 0;
        reportRest();
    }

    /** Reports the failures that were only counted. */
    public void reportRest() {
        counted.forEach((endpoint, last) -> context.fire(new ZMTPSocketEvent.HandshakeFailed(
                endpoint, last.address, Backoff.kindOf(last.cause), last.cause, last.unreported)));
        counted.clear();
    }

    /** The last failure of an endpoint, and the number of failures before it. */
    private record Counted(@Nullable SocketAddress address, Throwable cause, long unreported) {}
}
