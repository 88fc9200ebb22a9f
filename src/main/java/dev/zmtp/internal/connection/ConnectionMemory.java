package dev.zmtp.internal.connection;

import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.internal.memory.MemoryAccount;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.concurrent.RejectedExecutionException;

/**
 * The memory that one connection keeps for its peer, summed up from the parts that keep it, and its
 * {@link MemoryAccount}.
 *
 * <p>It is summed up after each read and each flush, and not for each message: a message that arrives whole, and one
 * that is sent at once, change nothing.
 */
public final class ConnectionMemory {

    /** What the objects of a property take. */
    private static final int PROPERTY_OBJECTS = 160;

    /** What the objects of a buffer that waits to be sent take, but for the transport's entry, which it counts. */
    private static final int BUFFER_OBJECTS = 160;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final MemoryAccount account;

    /** The memory of what the peer announced. */
    private long announced;

    /** The bytes that were given to the transport, and those of them that it has sent. */
    private long written;

    private long sent;

    /** The buffers that were given to the transport and are not sent. */
    private int waiting;

    /** The transport has bytes that it could not send yet. */
    private boolean unsent;

    /** The peer has sent something: silence until the end is told apart. */
    private boolean heard;

    private boolean countScheduled;

    ConnectionMemory(Connection connection, ChannelHandlerContext ctx) {
        this.connection = connection;
        this.ctx = ctx;
        this.account = new MemoryAccount(
                connection.session(), ctx.channel().parent() != null, ctx.executor(), connection::fail);
    }

    /** The peer has announced {@code metadata}, which is kept until the end of the connection. */
    public void announced(ZMTPMetadata metadata) {
        long bytes = 0;
        for (int i = 0; i < metadata.size(); i++) {
            bytes += PROPERTY_OBJECTS
                    + metadata.name(i).length()
                    + metadata.value(i).remaining();
        }
        announced = bytes;
    }

    /** The handshake has ended so. What the peer announced is kept until the end of the connection. */
    public void agreed(ZMTPHandshake handshake) {
        announced(handshake.metadata());
        announced += handshake.remoteIdentity().remaining();
    }

    /** Counts what is kept now. */
    public void count() {
        if (!connection.isClosed()) {
            account.keep(connection.kept() + announced + countUnsent());
        }
    }

    private long countUnsent() {
        ChannelOutboundBuffer buffer = ctx.channel().unsafe().outboundBuffer();
        long pending = buffer == null ? 0 : buffer.totalPendingWriteBytes();
        unsent = pending > 0;
        if (written - pending > sent) {
            account.moved(written - pending - sent);
            sent = written - pending;
        }
        return pending + (long) BUFFER_OBJECTS * waiting;
    }

    /** Returns whether the transport has bytes that it could not send at the last flush. */
    public boolean isUnsent() {
        return unsent;
    }

    /** See {@link MemoryAccount#reserve}. */
    public void reserve(long bytes) {
        account.reserve(bytes);
    }

    /** The peer has sent this many bytes. */
    void received(int bytes) {
        heard = true;
        account.moved(bytes);
    }

    /** Returns whether the peer has sent anything. */
    boolean hasHeard() {
        return heard;
    }

    /** A buffer of this many bytes is given to the transport. */
    public void written(int bytes) {
        written += bytes;
        waiting++;
    }

    /**
     * The transport has sent a buffer. If that could not be done at once, what is left is counted again when the
     * transport is done: its own count is not up to date before.
     */
    public void onSent() {
        waiting--;
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
            account.close(); // the event loop is ending, and the connection with it
        }
    }

    /** The connection is over. */
    void close() {
        account.close();
    }
}
