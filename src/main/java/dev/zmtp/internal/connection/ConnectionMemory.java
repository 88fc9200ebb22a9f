package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.memory.MemoryAccount;
import dev.zmtp.internal.memory.MetadataMemory;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.concurrent.RejectedExecutionException;

/**
 * The memory that a connection retains for its peer, which is the sum of its parts, and its {@link MemoryAccount}.
 *
 * <p>The sum is computed after each read and each flush, instead of for each message. A message that arrives whole, or
 * is sent immediately, does not change it.
 */
public final class ConnectionMemory {

    /**
     * The memory of the objects of a buffer that waits to be sent, with a promise, except for the transport's entry,
     * which the transport counts.
     */
    private static final int BUFFER_OBJECTS = 160;

    /** The memory of each further promise of a buffer, with its place in a list. */
    private static final int PROMISE = 72;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final MemoryAccount account;

    /** The memory of the peer's metadata and identity. */
    private int announced;

    /** The number of bytes passed to the transport, and the number of bytes that it has sent. */
    private long written;

    private long sent;

    /** The number of buffers that were passed to the transport and are not sent yet. */
    private int waiting;

    /** The number of their promises except for the first of each buffer. */
    private int morePromises;

    /** True if the transport has bytes that it could not send yet. */
    private boolean unsent;

    /** True if the peer has sent anything. A peer that is silent until the end is reported differently. */
    private boolean heard;

    private boolean countScheduled;

    ConnectionMemory(Connection connection, ChannelHandlerContext ctx) {
        this.connection = connection;
        this.ctx = ctx;
        this.account = new MemoryAccount(
                connection.session(), ctx.channel().parent() != null, ctx.executor(), connection::fail);
    }

    /** Counts the peer's {@code metadata}, which is retained until the end of the connection. */
    public void announced(ZMTPMetadata metadata) {
        announced = (int) Math.min(Integer.MAX_VALUE / 2, MetadataMemory.of(metadata));
    }

    /**
     * Counts the result of the handshake. The peer's metadata and identity are retained until the end of the
     * connection.
     */
    public void agreed(ZMTPHandshake handshake) {
        announced(handshake.metadata());
        announced += handshake.remoteIdentity().remaining();
    }

    /** Counts the memory that is currently retained, and the bytes that the transport has sent. */
    public void count() {
        if (!connection.isClosed()) {
            account.keep(connection.kept() + announced + countUnsent());
        }
    }

    private long countUnsent() {
        ChannelOutboundBuffer buffer = ctx.channel().unsafe().outboundBuffer();
        if (buffer == null) { // the transport has ended, and does not tell what it has sent of the rest
            unsent = false;
            return objects();
        }
        long pending = buffer.totalPendingWriteBytes();
        unsent = pending > 0;
        if (written - pending > sent) {
            account.moved(written - pending - sent);
            connection.session().transferred(0, written - pending - sent);
            sent = written - pending;
        }
        return pending + objects();
    }

    /** Returns whether the transport has bytes that it could not send at the last flush. */
    public boolean isUnsent() {
        return unsent;
    }

    /** See {@link MemoryAccount#reserve}. */
    public void reserve(long bytes) {
        account.reserve(bytes);
    }

    /** Counts bytes that the peer has sent. */
    void received(int bytes) {
        heard = true;
        account.moved(bytes);
        connection.session().transferred(bytes, 0);
    }

    /** Returns whether the peer has sent anything. */
    boolean hasHeard() {
        return heard;
    }

    /** Counts a buffer of this many bytes, which is passed to the transport with the promises of its messages. */
    public void written(int bytes, int promises) {
        written += bytes;
        waiting++;
        morePromises += Math.max(0, promises - 1);
    }

    private long objects() {
        return (long) BUFFER_OBJECTS * waiting + (long) PROMISE * morePromises;
    }

    /**
     * Called when the transport has sent this many bytes more of a large buffer. It retains all of the buffer until the
     * end, but the peer is reading.
     */
    public void sentPart(long bytes) {
        sent += bytes;
        account.moved(bytes);
        connection.session().transferred(0, bytes);
    }

    /**
     * Called when the transport has sent a buffer. If it could not be sent immediately, the rest is counted again when
     * the transport is done, because the transport's own count is not up to date before that.
     */
    public void onSent(int promises) {
        waiting--;
        morePromises -= Math.max(0, promises - 1);
        if (!unsent || countScheduled) {
            return;
        }
        countScheduled = true;
        try {
            ctx.executor().execute(() -> {
                countScheduled = false;
                count();
            });
        } catch (RejectedExecutionException e) {
            account.close(); // the event loop is terminating, and closes the connection
        }
    }

    /** Called when the connection is over. */
    void close() {
        account.close();
    }
}
