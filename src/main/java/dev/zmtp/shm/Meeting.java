package dev.zmtp.shm;

import static dev.zmtp.shm.Mapping.Lifetime.UNTIL_CLOSED;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Unix domain socket until both sides have mapped the file: the server creates it and sends an {@link Invitation},
 * the client accepts.
 */
abstract class Meeting extends ByteToMessageDecoder {

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

    /** The file is mapped by both; the doorbell may ring already. */
    final void met(ChannelHandlerContext ctx, RingPair rings) {
        ctx.pipeline().replace(this, null, new Doorbell(channel));
        channel.met(rings);
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
            int capacity = channel.config().ringCapacity();
            SharedFile created = SharedFile.create(SharedFile.newPath(), Invitation.RINGS, capacity, UNTIL_CLOSED);
            file = created;
            ByteBuf invitation = ctx.alloc().buffer();
            new Invitation(created.path(), created.capacity()).write(invitation);
            ctx.writeAndFlush(invitation);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            SharedFile created = file;
            if (created == null) {
                return;
            }
            int answer = in.readUnsignedByte();
            if (answer != Invitation.ACCEPTED) {
                throw Invitation.unexpected("answer", answer, Invitation.ACCEPTED);
            }
            created.unlink(); // if the client has not
            file = null;
            met(ctx, RingPair.of(created, true));
        }

        @Override
        protected void handlerRemoved0(ChannelHandlerContext ctx) throws IOException {
            try (SharedFile unused = file) {
                if (unused != null) { // no client has come
                    unused.unlink();
                }
            }
        }
    }

    private static final class Client extends Meeting {

        Client(SharedMemoryChannel channel) {
            super(channel);
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            if (in.readableBytes() < Invitation.FIXED || in.readableBytes() < Invitation.length(in)) {
                return;
            }
            RingPair rings = Invitation.read(in).accept(UNTIL_CLOSED);
            ctx.writeAndFlush(ctx.alloc().buffer(1).writeByte(Invitation.ACCEPTED));
            met(ctx, rings);
        }
    }
}
