package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the two sides say over the Unix domain socket until both have mapped the file. The server creates it, and the
 * client removes its name as soon as it has it, so that a server that is killed meanwhile leaves nothing:
 *
 * <pre>
 *   invitation = "ZSHM" version:1 capacity:4 length:2 path      from the server
 *   acceptance = 1                                              from the client
 * </pre>
 *
 * <p>From then on each byte is a ring of the doorbell.
 */
abstract class Meeting extends ByteToMessageDecoder {

    private static final int MAGIC = 0x5a53484d;
    private static final int VERSION = 1;

    /** The bytes of an invitation before those of the path. */
    private static final int FIXED = 11;

    private static final int MAX_PATH = 4096;
    private static final int ACCEPTED = 1;

    /** One for each direction. */
    private static final int RINGS = 2;

    final SharedMemoryChannel channel;

    private Meeting(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** The end of a server that has accepted a connection. */
    static Meeting ofServer(SharedMemoryChannel channel) {
        return new Server(channel);
    }

    /** The end of a client. */
    static Meeting ofClient(SharedMemoryChannel channel) {
        return new Client(channel);
    }

    private static IOException unexpected(String what, Object actual, Object expected) {
        return new IOException("shared memory: " + what + ": " + actual + " (expected: " + expected + ")");
    }

    /** The file is mapped by both; the doorbell may ring already. */
    final void met(ChannelHandlerContext ctx, SharedFile file, boolean isServer) {
        ctx.pipeline().replace(this, null, new Doorbell(channel));
        channel.met(RingPair.of(file, isServer));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        channel.fail(new IOException("shared memory: the other side ended the meeting (expected: both map the file)"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        channel.fail(cause.getCause() instanceof IOException known ? known : cause);
    }

    private static final class Server extends Meeting {
        private @Nullable SharedFile file;

        Server(SharedMemoryChannel channel) {
            super(channel);
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws IOException {
            SharedFile created = SharedFile.create(RINGS, channel.config().ringCapacity());
            file = created;
            byte[] path = created.path().toString().getBytes(StandardCharsets.UTF_8);
            ctx.writeAndFlush(ctx.alloc()
                    .buffer(FIXED + path.length)
                    .writeInt(MAGIC)
                    .writeByte(VERSION)
                    .writeInt(created.capacity())
                    .writeShort(path.length)
                    .writeBytes(path));
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            SharedFile created = file;
            if (created == null) {
                return;
            }
            int answer = in.readUnsignedByte();
            if (answer != ACCEPTED) {
                throw unexpected("answer", answer, ACCEPTED);
            }
            created.unlink(); // if the client has not
            file = null;
            met(ctx, created, true);
        }

        @Override
        protected void handlerRemoved0(ChannelHandlerContext ctx) throws IOException {
            if (file != null) { // nobody has come
                file.unlink();
                file.close();
            }
        }
    }

    private static final class Client extends Meeting {

        Client(SharedMemoryChannel channel) {
            super(channel);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            if (in.readableBytes() < FIXED) {
                return;
            }
            int start = in.readerIndex();
            if (in.getInt(start) != MAGIC) {
                throw unexpected("invitation", "0x" + Integer.toHexString(in.getInt(start)), "ZSHM");
            }
            if (in.getUnsignedByte(start + 4) != VERSION) {
                throw unexpected("version", in.getUnsignedByte(start + 4), VERSION);
            }
            int capacity = in.getInt(start + 5);
            int length = in.getUnsignedShort(start + 9);
            if (length > MAX_PATH) {
                throw unexpected("path length", length, "<= " + MAX_PATH);
            }
            if (in.readableBytes() < FIXED + length) {
                return;
            }
            in.skipBytes(FIXED);
            SharedFile file =
                    open(in.readCharSequence(length, StandardCharsets.UTF_8).toString(), capacity);
            file.unlink();
            ctx.writeAndFlush(ctx.alloc().buffer(1).writeByte(ACCEPTED));
            met(ctx, file, false);
        }

        private static SharedFile open(String path, int capacity) throws IOException {
            try {
                return SharedFile.open(SharedFile.checkName(Path.of(path)), RINGS, capacity);
            } catch (IllegalArgumentException e) { // the capacity or the path is none
                throw new IOException("shared memory: " + e.getMessage(), e);
            }
        }
    }
}
