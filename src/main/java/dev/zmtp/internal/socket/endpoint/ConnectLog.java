package dev.zmtp.internal.socket.endpoint;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPException.Code;
import dev.zmtp.internal.runtime.Causes;
import dev.zmtp.socket.ZMTPSocketEvent.FailureKind;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * The log messages of a connector. It logs a warning for the first failure and for each failure of another kind than
 * the last, and a message when it is up again. Repeated failures are logged at level DEBUG. Used on the event loop.
 */
public final class ConnectLog {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.ConnectLog");

    private final String endpoint;

    /** Kind of the last failure; null while there is no failure to report. */
    private @Nullable FailureKind last;

    ConnectLog(String endpoint) {
        this.endpoint = endpoint;
    }

    /** Called when no socket is bound yet to a name of this process, which is only a failure if it lasts. */
    void notBoundYet(Throwable cause) {
        logger.debug("{}: {}, waiting for it", endpoint, text(cause));
    }

    void failed(FailureKind kind, Throwable cause, boolean again) {
        String next = again ? "trying again" : "given up";
        if (kind == last) {
            logger.debug("{}: {}, {}", endpoint, text(cause), next);
        } else {
            logger.warn("{}: {}, {}", endpoint, text(cause), next);
        }
        last = kind;
    }

    /** Returns what a user reads about a failed attempt. */
    public static String text(Throwable cause) {
        if (cause instanceof ClosedChannelException) {
            return "closed by the peer";
        }
        String ofTls = TlsFailures.text(cause);
        if (ofTls != null) {
            return Causes.line(ofTls);
        }
        String message = cause.getMessage();
        if (cause instanceof UnknownHostException) {
            return "unknown host: " + (message == null ? "" : Causes.line(message));
        }
        return message == null ? cause.getClass().getSimpleName() : Causes.line(message) + hint(cause, message);
    }

    /** Returns the usual cause of a refusal whose reason a peer does not report. */
    private static String hint(Throwable cause, String message) {
        if (!(cause instanceof ZMTPException e)) {
            return "";
        }
        if (e.code() == Code.CLOSED && message.contains("mechanism CURVE")) {
            return " (wrong server key, or a key that is not allowed?)";
        }
        return e.code() == Code.PEER_ERROR && message.contains(": 400") ? " (wrong password, or not allowed?)" : "";
    }

    void up() {
        if (last != null) {
            last = null;
            logger.info("{}: connected", endpoint);
        }
    }
}
