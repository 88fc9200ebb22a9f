package dev.zmtp.internal.connection;

import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/** Calls to user code whose failures must not interrupt the codec. */
public final class UserCode {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.UserCode");

    private UserCode() {}

    /** Closes a user-supplied component. Exceptions are logged and must not interrupt the end of the connection. */
    public static void closeQuietly(Channel channel, Runnable close) {
        try {
            close.run();
        } catch (Throwable e) {
            logger.warn("{} a part of the codec failed to close", channel, e);
        }
    }
}
