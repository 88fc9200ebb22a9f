package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * What raw Netty does where it does not have to tell messages apart: it sends whole blocks of them and counts the bytes
 * that arrive.
 */
final class RawTraffic implements NettyTraffic {

    /** What a codec puts into one buffer at most. */
    private static final int BLOCK = 64 << 10;

    private final Arguments arguments;
    private final NettyLibrary library;
    private final NettyTraffic whole;

    /** {@code whole} does the workloads in which messages are handled one by one. */
    RawTraffic(Arguments arguments, NettyLibrary library, NettyTraffic whole) {
        this.arguments = arguments;
        this.library = library;
        this.whole = whole;
    }

    @Override
    public ChannelHandler handler(boolean binding, Counter messages) {
        return switch (arguments.workload()) {
            case ONEWAY, CONNECTIONS -> binding ? new Receiver(messages) : new Sender(messages);
            case REQREP -> binding ? new Echo(messages) : new Asker(messages);
            default -> whole.handler(binding, messages);
        };
    }

    /** Returns {@code count} times the bytes of {@code message}, which it takes over. */
    private static ByteBuf block(Channel channel, ByteBuf message, int count) {
        int length = message.readableBytes();
        ByteBuf block = channel.alloc().directBuffer(count * length);
        for (int i = 0; i < count; i++) {
            block.writeBytes(message, message.readerIndex(), length);
        }
        message.release();
        return block;
    }

    /** Writes blocks as long as the channel is writable: the first one fills it. */
    private final class Sender extends BatchSender {
        private ByteBuf block;
        private int inBlock;

        Sender(Counter messages) {
            super(messages);
        }

        @Override
        void prepare(ChannelHandlerContext ctx) {
            int size = arguments.size();
            int most = Math.max(1, BLOCK / RawNetty.length(size));
            inBlock = Math.min(arguments.flush(most), most);
            ByteBuf body = ctx.alloc().directBuffer(size).writeZero(size);
            block = block(ctx.channel(), (ByteBuf) library.message(ctx.alloc(), body), inBlock);
        }

        @Override
        int send(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(block.retainedDuplicate(), ctx.voidPromise());
            return inBlock;
        }
    }

    private final class Receiver extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private final int length = RawNetty.length(arguments.size());

        /** Bytes of a message whose end has not arrived. */
        private int rest;

        Receiver(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            ByteBuf in = (ByteBuf) read;
            rest += in.readableBytes();
            in.release();
            messages.add(rest / length);
            rest %= length;
        }
    }

    /** Sends back all bytes. */
    private static final class Echo extends ChannelInboundHandlerAdapter {
        private static final int LENGTH = CodecTraffic.requestLength();

        private final Counter messages;
        private int rest;

        Echo(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            rest += ((ByteBuf) read).readableBytes();
            ctx.write(read, ctx.voidPromise());
            messages.add(rest / LENGTH);
            rest %= LENGTH;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    /** Asks again, for everything that was answered in a read at once. */
    private final class Asker extends ChannelInboundHandlerAdapter {
        private final Counter messages;
        private ByteBuf block;
        private int length;
        private int rest;
        private int answered;

        Asker(Counter messages) {
            this.messages = messages;
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == GO) {
                ByteBuf request = (ByteBuf) library.message(ctx.alloc(), CodecTraffic.requestFrames(ctx));
                length = request.readableBytes();
                block = block(ctx.channel(), request, arguments.outstanding());
                ctx.writeAndFlush(block.retainedDuplicate(), ctx.voidPromise());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            ByteBuf in = (ByteBuf) read;
            rest += in.readableBytes();
            in.release();
            answered += rest / length;
            rest %= length;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (answered > 0) {
                messages.add(answered);
                ctx.writeAndFlush(block.retainedSlice(0, answered * length), ctx.voidPromise());
                answered = 0;
            }
        }
    }
}
