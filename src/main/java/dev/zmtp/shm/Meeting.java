package dev.zmtp.shm;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Unix domain socket until both sides have mapped the file. The server creates the file and sends an
 * {@link Invitation}, and the client accepts it. If the server cannot create the file, it reports this to the client
 * and in its log.
 */
abstract class Meeting extends ByteToMessageDecoder {

    final SharedMemoryChannel channel;

    private Meeting(SharedMemoryChannel channel) {
        this.channel = channel;
    }

    /** Returns the end of a server that has accepted a connection. */
    static Meeting ofServer(SharedMemoryChannel channel) {
        return new Server(channel, (SharedMemoryServerChannel) channel.parent());
    }

    /** Returns the end of a client. */
    static Meeting ofClient(SharedMemoryChannel channel) {
        return new Client(channel);
    }

    /** Completes the meeting after both sides have mapped the file. The doorbell can already ring. */
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
        private final SharedMemoryServerChannel server;
        private @Nullable SharedFile file;

        Server(SharedMemoryChannel channel, SharedMemoryServerChannel server) {
            super(channel);
            this.server = server;
        }

        /**
         * Defers the start, because the channel is being registered. Its handlers are added afterwards, and can close
         * it.
         */
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.executor().execute(() -> {
                if (channel.isOpen()) {
                    FileThread.SHARED.execute(() -> create(ctx));
                }
            });
        }

        /** Creates the file, outside of the event loop. */
        private void create(ChannelHandlerContext ctx) {
            if (!channel.isOpen()) {
                return;
            }
            SharedFile created;
            try {
                int capacity = channel.settings().ringCapacity();
                created = server.directory().create(Invitation.RINGS, capacity);
            } catch (Throwable e) { // the client is to hear of errors, too
                execute(ctx, () -> refuse(ctx, e), () -> {});
                return;
            }
            execute(ctx, () -> invite(ctx, created), created::discard);
        }

        /** Runs a task on the event loop, or {@code ended} on this thread if the event loop has ended. */
        private static void execute(ChannelHandlerContext ctx, Runnable task, Runnable ended) {
            try {
                ctx.executor().execute(task);
            } catch (RejectedExecutionException e) {
                ended.run();
            }
        }

        private void invite(ChannelHandlerContext ctx, SharedFile created) {
            if (ctx.isRemoved() || !channel.isOpen()) {
                created.discard();
                return;
            }
            file = created;
            ByteBuf invitation = ctx.alloc().buffer();
            new Invitation(created.path(), created.header().capacity()).write(invitation);
            ctx.writeAndFlush(invitation);
        }

        private void refuse(ChannelHandlerContext ctx, Throwable cause) {
            server.refused(cause);
            ByteBuf refusal = ctx.alloc().buffer();
            Invitation.writeRefusal(refusal, cause);
            ctx.writeAndFlush(refusal).addListener(written -> channel.fail(cause));
        }

        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) throws IOException {
            SharedFile created = file;
            if (created == null) { // nothing bounds what arrives until then
                throw Invitation.unexpected("answer", in.readableBytes() + " bytes", "none before the invitation");
            }
            if (Invitation.readAnswer(in, created)) {
                created.removeName(); // if the client has not
                RingPair rings = RingPair.of(created, true);
                file = null;
                met(ctx, rings);
            }
        }

        @Override
        protected void handlerRemoved0(ChannelHandlerContext ctx) {
            SharedFile created = file;
            if (created != null) { // no client has come
                file = null;
                created.discard();
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
            RingPair rings = Invitation.read(in).accept();
            try {
                byte[] answer = Invitation.answer(rings.file());
                channel.answers(
                        ctx.writeAndFlush(ctx.alloc().buffer(Invitation.ANSWER).writeBytes(answer)));
            } catch (Throwable e) { // out of memory; nobody else would unmap the file
                rings.close();
                throw e;
            }
            met(ctx, rings);
        }
    }
}
