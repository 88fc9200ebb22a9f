package dev.zmtp.internal.traffic;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * The signs that a peer is alive: whatever arrives, and while our writes wait for the transport, what that takes of
 * them, because then the peer has made room for it.
 */
final class SignsOfLife {

    private final ChannelHandlerContext ctx;

    /** Something has arrived since {@link #look}. */
    private boolean arrived;

    /** The transport has written a buffer of ours since {@link #look}. */
    private boolean written;

    /** What the transport was writing at {@link #look}; null if it was writing nothing. */
    private @Nullable WeakReference<Object> before;

    /** How much of that it had written. */
    private long progressBefore;

    SignsOfLife(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    void arrived() {
        arrived = true;
    }

    void written() {
        written = true;
    }

    /** Notes the state that {@link #isAlive} compares with. */
    void look() {
        arrived = false;
        written = false;
        Object current = current();
        before = current == null ? null : new WeakReference<>(current);
        progressBefore = progress();
    }

    /**
     * Returns whether there was a sign of life since {@link #look}.
     *
     * <p>A write that completes at once shows only that our kernel has room. A completed write is a sign of life only
     * if it had been waiting, because then the peer has read what came before it; or while our PING is still queued,
     * because the peer cannot answer it yet.
     */
    boolean isAlive(boolean pingLeft) {
        if (arrived) {
            return true;
        }
        if (before == null) {
            return written && !pingLeft;
        }
        // Not one of these alone: an SslHandler makes many buffers of one write, and buffers are used again.
        Object same = before.get();
        return written || same == null || same != current() || progress() != progressBefore;
    }

    /** Whether a write waits for the transport. */
    boolean isWriteWaiting() {
        return current() != null;
    }

    private @Nullable Object current() {
        ChannelOutboundBuffer queue = ctx.channel().unsafe().outboundBuffer();
        return queue == null ? null : queue.current();
    }

    private long progress() {
        ChannelOutboundBuffer queue = ctx.channel().unsafe().outboundBuffer();
        return queue == null ? 0 : queue.currentProgress();
    }
}
