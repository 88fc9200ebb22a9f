package dev.zmtp.internal.write;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.connection.Session;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Logs once per connection that a REQ has written a message without the delimiter, an empty first frame (RFC 28). The
 * peer drops such a message, and the REQ never receives a reply.
 */
final class DelimiterHint {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.DelimiterHint");

    private final Session session;

    private DelimiterHint(Session session) {
        this.session = session;
    }

    /** Returns null if the session does not belong to a REQ, or if nothing would be logged. */
    static @Nullable DelimiterHint of(Session session) {
        return session.config().socketType() == ZMTPSocketType.REQ && logger.isDebugEnabled()
                ? new DelimiterHint(session)
                : null;
    }

    /** Checks a message that is about to be written. Returns the hint for the next message. */
    @Nullable
    DelimiterHint look(ZMTPMessage message) {
        if (message.size() > 0 && !message.frame(0).isReadable()) {
            return this;
        }
        String first = message.size() == 0
                ? "a message without frames"
                : "first frame: " + message.frame(0).readableBytes() + " bytes";
        logger.debug("REQ with {}: {} (expected: an empty frame, the delimiter)", session.peer(), first);
        return null;
    }
}
