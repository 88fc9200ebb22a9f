package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.internal.runtime.AbruptClose;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reports the end of a connection once, although it is detected in several places: by the transport's read, by each
 * write that the transport fails, and by handlers before the codec.
 */
public final class EndReports {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.EndReports");

    /** Maximum number of causes that are followed, because chains of causes can be circular. */
    private static final int MAX_CAUSES = 32;

    private final ChannelHandlerContext ctx;
    private final Session session;
    private final ConnectionMemory memory;

    /** The last exception that was passed on, if nothing has arrived since. It can be the reason for the end. */
    private @Nullable Throwable last;

    /** True if the failure of a write with a void promise was reported. */
    private boolean writeReported;

    /** True if a failure of the codec was reported, and the channel is being closed because of it. */
    private boolean failureReported;

    EndReports(ChannelHandlerContext ctx, Session session, ConnectionMemory memory) {
        this.ctx = ctx;
        this.session = session;
        this.memory = memory;
    }

    /**
     * Reports the failure for which the codec ends the connection, and closes the channel unless that is already done.
     */
    void failure(Throwable cause, boolean inHandshake, boolean close) {
        if (inHandshake) {
            UnheardFailure.listen(ctx.pipeline());
            ctx.fireUserEventTriggered(new ZMTPHandshakeFailure(session, cause, isSilent(cause)));
        } else {
            ctx.fireExceptionCaught(cause);
        }
        failureReported = true;
        if (close) {
            ctx.close();
            if (isUrgent(cause)) {
                AbruptClose.of(ctx.channel());
            }
        }
    }

    /** Returns whether the peer is dead, or its memory is needed for others. */
    private static boolean isUrgent(Throwable cause) {
        return cause instanceof ZMTPException failure
                && (failure.code() == ZMTPException.Code.HEARTBEAT_TIMEOUT
                        || failure.code() == ZMTPException.Code.MEMORY_BUDGET);
    }

    private boolean isSilent(Throwable cause) {
        return !memory.hasHeard() && !session.hasHeardBefore() && !TlsPeer.hasSentBytes(cause);
    }

    /** Passes on a failure that a handler before the codec, or a callback, has reported during traffic. */
    public void inTraffic(Throwable failure) {
        if (!writeReported || !isSame(failure, last)) {
            pass(failure);
        }
    }

    /**
     * Passes on a failure that was reported after the end, unless it is the failure that ended the connection. {@code
     * cause} is that failure, if any.
     */
    void afterEnd(Throwable failure, @Nullable Throwable cause) {
        boolean isConsequence = failureReported && failure instanceof IOException; // of the close by the codec
        if (isConsequence || isSame(failure, cause) || isSame(failure, last)) {
            logger.debug("{} closing: {}", ctx.channel(), failure.toString());
        } else {
            pass(failure);
        }
    }

    /**
     * Reports that a write with a void promise failed because the connection ended. All later writes fail for the same
     * reason.
     */
    public void voidWriteFailed(Throwable cause) {
        if (writeReported) {
            return;
        }
        writeReported = true;
        if (!isSame(cause, last)) {
            pass(cause);
        }
    }

    /**
     * Returns whether a failed write has torn the stream, because the connection continues and the user has not ended
     * this side's half of it.
     */
    public boolean isTorn() {
        return ctx.channel().isActive()
                && !(ctx.channel() instanceof DuplexChannel duplex && duplex.isOutputShutdown());
    }

    /** Called when bytes have arrived, which shows that an earlier report was not the end. */
    public void bytesArrived() {
        last = null;
    }

    /**
     * Reports that the connection has ended in the middle of {@code what}, if not null. The transport, or a handler
     * before the codec that closed the channel, can already have reported the reason.
     */
    void cutOff(@Nullable String what) {
        if (what != null && !writeReported && last == null) {
            String message = "connection with " + session.peer() + " ended in the middle of a " + what;
            pass(new ZMTPException(ZMTPException.Code.CLOSED, message));
        }
    }

    private void pass(Throwable failure) {
        last = failure;
        ctx.fireExceptionCaught(failure);
    }

    /** Returns whether the two are the same failure: either wraps the other, or both have a cause in common. */
    private static boolean isSame(Throwable failure, @Nullable Throwable known) {
        Throwable ours = failure;
        for (int i = 0; i < MAX_CAUSES && ours != null; i++) {
            Throwable theirs = known;
            for (int j = 0; j < MAX_CAUSES && theirs != null; j++) {
                if (ours == theirs) {
                    return true;
                }
                theirs = theirs.getCause();
            }
            ours = ours.getCause();
        }
        return false;
    }
}
