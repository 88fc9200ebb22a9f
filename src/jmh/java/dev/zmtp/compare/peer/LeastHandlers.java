package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPFraming;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.List;

/**
 * The least pair of handlers that can do the work of a codec: the ceiling for one on Netty.
 *
 * <p>One writes a header of two bytes and copies the message into an open buffer; the other copies each body out and
 * fires the same object again and again. They check nothing: no limits, no phases, no other lengths.
 */
final class LeastHandlers implements NettyLibrary {

    private static final int HEADER = 2;

    static void start(Program program) throws Exception {
        Arguments arguments = program.arguments();
        if (arguments.workload() != Workload.ONEWAY
                || arguments.curve()
                || arguments.size() > ZMTPFraming.V2.maxShortBody()) {
            throw new UnsupportedException("it has short frames in one direction only");
        }
        NettyTransport transport = Netty42.of(program);
        NettyLibrary library = new LeastHandlers();
        NettyProgram.start(program, transport, library, new CodecTraffic(program, transport, library));
    }

    @Override
    public void addCodec(ChannelPipeline pipeline, boolean binding) {
        pipeline.addLast(binding ? new Reader() : new Writer(), RawNetty.connectedEvent());
    }

    @Override
    public boolean isReady(Object event) {
        return event == RawNetty.CONNECTED;
    }

    @Override
    public Object message(ByteBufAllocator alloc, ByteBuf... frames) {
        return frames[0];
    }

    @Override
    public Object again(Object message) {
        return ((ByteBuf) message).retain(); // writing moves no index
    }

    @Override
    public int firstByte(Object message) {
        return ((byte[]) message)[0];
    }

    /** Writes bodies into a buffer, which leaves at a flush or when it is full. */
    private static final class Writer extends ChannelOutboundHandlerAdapter {
        private static final int CAPACITY = 64 << 10;

        private ByteBuf open;
        private int index;
        private List<Promise<Void>> promises;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            ByteBuf body = (ByteBuf) message;
            int length = body.readableBytes();
            if (open != null && CAPACITY - index < HEADER + length) {
                handOver(ctx);
            }
            if (open == null) {
                open = ctx.alloc().ioBuffer(CAPACITY);
            }
            open.setShort(index, length);
            body.getBytes(body.readerIndex(), open, index + HEADER, length);
            index += HEADER + length;
            body.release();
            if (!promise.isVoid()) {
                if (promises == null) {
                    promises = new ArrayList<>();
                }
                promises.add(promise);
            }
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            handOver(ctx);
            ctx.flush();
        }

        private void handOver(ChannelHandlerContext ctx) {
            if (open == null) {
                return;
            }
            ByteBuf full = open.writerIndex(index);
            open = null;
            index = 0;
            if (promises == null) {
                ctx.write(full, ctx.voidPromise());
                return;
            }
            List<Promise<Void>> waiting = promises;
            promises = null;
            ctx.write(full).addListener(done -> waiting.forEach(each -> each.trySuccess(null)));
        }
    }

    /** Copies each body into the same array. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        /** Enough for the longest read of Netty's after the start of a frame. */
        private static final int CAPACITY = 128 << 10;

        private final byte[] message = new byte[ZMTPFraming.V2.maxShortBody()];

        /** The start of a frame whose end has not arrived, or null. */
        private ByteBuf part;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            ByteBuf in = (ByteBuf) read;
            if (part != null) {
                in = part.writeBytes(in);
                ((ByteBuf) read).release();
                part = null;
            }
            int index = in.readerIndex();
            int end = in.writerIndex();
            while (end - index >= HEADER) {
                int length = in.getUnsignedShort(index);
                if (end - index - HEADER < length) {
                    break;
                }
                in.getBytes(index + HEADER, message, 0, length);
                index += HEADER + length;
                ctx.fireChannelRead(message);
            }
            if (index < end) {
                part = ctx.alloc().directBuffer(CAPACITY).writeBytes(in, index, end - index);
            }
            in.release();
        }
    }
}
