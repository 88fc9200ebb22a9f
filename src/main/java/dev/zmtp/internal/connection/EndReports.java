package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reports the end of a connection once, although it is noticed in several places: by the transport's read, by each
 * write that it fails, by handlers before the codec.
 */
public final class EndReports {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.codec.EndReports");

    /** Chains of causes are followed no further: they may be circular. */
    private static final int MAX_CAUSES = 32;

    private final ChannelHandlerContext ctx;
    private final Session session;
    private final ConnectionMemory memory;

    /** The exception that was passed on last, if nothing has arrived since: it may be why the connection ends. */
    private @Nullable Throwable last;

    /** The failure of a write with a void promise was reported. */
    private boolean writeReported;

    /** A failure of the codec's was reported, and the channel is being closed for it. */
    private boolean failureReported;

    EndReports(ChannelHandlerContext ctx, Session session, ConnectionMemory memory) {
        this.ctx = ctx;
        this.session = session;
        this.memory = memory;
    }

    /** Reports the failure for which the codec ends the connection, and closes the channel if that is not done yet. */
    void failure(Throwable cause, boolean inHandshake, boolean close) {
        if (inHandshake) {
            UnheardFailure.listen(ctx.pipeline());
            ctx.fireUserEventTriggered(new ZMTPHandshakeFailure(session, cause, !memory.hasHeard()));
        } else {
            ctx.fireExceptionCaught(cause);
        }
        failureReported = true;
        if (close) {
            ctx.close();
        }
    }

    /** Passes on what a handler before the codec, or a callback, has reported in traffic. */
    public void inTraffic(Throwable failure) {
        if (!writeReported || !isSame(failure, last)) {
            pass(failure);
        }
    }

    /** Passes on what was reported after the end, for {@code cause} if that was a failure, unless it is the end. */
    void afterEnd(Throwable failure, @Nullable Throwable cause) {
        boolean isConsequence = failureReported && failure instanceof IOException; // of our close
        if (isConsequence || isSame(failure, cause) || isSame(failure, last)) {
            logger.debug("{} closing: {}", ctx.channel(), failure.toString());
        } else {
            pass(failure);
        }
    }

    /** A write with a void promise has failed as the connection ended. All later ones fail for the same reason. */
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
     * Returns whether a write that has failed has torn the stream: the connection goes on, and the user has not ended
     * our half of it.
     */
    public boolean isTorn() {
        return ctx.channel().isActive()
                && !(ctx.channel() instanceof DuplexChannel duplex && duplex.isOutputShutdown());
    }

    /** Bytes have arrived: what was reported before was not the end. */
    public void bytesArrived() {
        last = null;
    }

    /**
     * The connection has ended in the middle of {@code what}, if not null. The transport may have said why, or a
     * handler before the codec that has closed the channel.
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

    /** Returns whether the two are one failure: one wraps the other, or both have a cause in common. */
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
