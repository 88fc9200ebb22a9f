package dev.zmtp.codec;

import io.netty.channel.Channel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

/** Calls to what the user has supplied, that must not interrupt what the codec does. */
final class UserCode {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance(UserCode.class);

    private UserCode() {}

    /** Closes a user-supplied component. Exceptions are logged and must not interrupt the end of the connection. */
    static void closeQuietly(Channel channel, Runnable close) {
        try {
            close.run();
        } catch (Throwable e) {
            logger.warn("{} a part of the codec failed to close", channel, e);
        }
    }
}
