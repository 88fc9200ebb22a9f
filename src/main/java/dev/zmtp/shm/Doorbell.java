package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Unix domain socket after both sides have met. Any byte wakes this side. One of the bytes also signals that the other
 * side has shut down its output. The end of the stream means that the other side is gone.
 */
final class Doorbell extends ChannelInboundHandlerAdapter {

    /** Byte that wakes a side, like any byte except the last ring. */
    static final byte RING = 1;

    /** Byte that wakes a side and signals that no data follows the content of its ring. */
    static final byte LAST_RING = 2;

    /** Direct, because a transport would copy other bytes for each ring, and a lack of memory would lose the ring. */
    private static final ByteBuf RINGS = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(
            ByteBuffer.allocateDirect(2).put(RING).put(LAST_RING).flip()));

    private final SharedMemoryChannel channel;

    Doorbell(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** Wakes the other side, unless it has left many rings unanswered. */
    static void ring(Channel socket) {
        if (socket.isWritable()) {
            socket.writeAndFlush(RINGS.slice(0, 1), socket.voidPromise());
        }
    }

    /** Signals to the other side that the output of this side is shut down. */
    static void ringLast(Channel socket) {
        socket.writeAndFlush(RINGS.slice(1, 1), socket.voidPromise());
    }

    /**
     * Closes a socket, which cannot close itself before it is registered with an event loop. Its output is shut down
     * first: with io_uring, the socket can outlive its close in the kernel, and the other side would not notice it.
     *
     * @param last the write that the other side has to get first; null if there is none
     */
    static void close(Channel socket, @Nullable ChannelFuture last) {
        if (!socket.isRegistered()) {
            socket.unsafe().closeForcibly();
        } else if (last == null || last.isDone()) {
            shutDown(socket);
        } else if (socket.eventLoop().isShuttingDown()) {
            socket.close(); // which waits for the write as long as it can
        } else {
            last.addListener(written -> shutDown(socket));
        }
    }

    private static void shutDown(Channel socket) {
        if (socket.isActive() && socket instanceof DuplexChannel duplex) {
            duplex.shutdownOutput();
        }
        socket.close();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf bytes = (ByteBuf) msg;
        try {
            if (bytes.indexOf(bytes.readerIndex(), bytes.writerIndex(), LAST_RING) >= 0) {
                channel.traffic().otherOutputShutdown();
            }
        } finally {
            bytes.release();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        channel.traffic().woken();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        channel.traffic().otherSideGone();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // the other side was killed: what it wrote is there all the same
    }
}
