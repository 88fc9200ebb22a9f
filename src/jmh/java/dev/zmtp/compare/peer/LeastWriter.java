package dev.zmtp.compare.peer;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Promise;
import java.util.ArrayList;
import java.util.List;

/** Writes messages into a buffer, which leaves at a flush, or when it is full. */
abstract class LeastWriter extends ChannelOutboundHandlerAdapter {

    /** The length of a short header. */
    static final int HEADER = 2;

    /** A short header says that another frame follows. */
    static final int MORE = 1 << Byte.SIZE;

    private static final int CAPACITY = 64 << 10;

    private ByteBuf open;
    private int index;
    private List<Promise<Void>> promises;

    /** The bytes of {@code message} with its headers. */
    abstract int length(Object message);

    /** Writes {@code message} at {@code start} of {@code out}, and releases it. */
    abstract void put(Object message, ByteBuf out, int start);

    @Override
    public final void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        int length = length(message);
        if (open != null && CAPACITY - index < length) {
            handOver(ctx);
        }
        if (open == null) {
            open = ctx.alloc().ioBuffer(CAPACITY);
        }
        put(message, open, index);
        index += length;
        if (!promise.isVoid()) {
            if (promises == null) {
                promises = new ArrayList<>();
            }
            promises.add(promise);
        }
    }

    @Override
    public final void flush(ChannelHandlerContext ctx) {
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

    /** Messages of one frame, each a buffer. */
    static final class OneFrame extends LeastWriter {
        @Override
        int length(Object message) {
            return HEADER + ((ByteBuf) message).readableBytes();
        }

        @Override
        void put(Object message, ByteBuf out, int start) {
            ByteBuf body = (ByteBuf) message;
            int length = body.readableBytes();
            out.setShort(start, length);
            body.getBytes(body.readerIndex(), out, start + HEADER, length);
            body.release();
        }
    }

    /** Messages of some frames. */
    static final class Frames extends LeastWriter {
        @Override
        int length(Object message) {
            LeastMessage frames = (LeastMessage) message;
            int length = 0;
            for (int i = 0; i < frames.size(); i++) {
                length += HEADER + frames.length(i);
            }
            return length;
        }

        @Override
        void put(Object message, ByteBuf out, int start) {
            LeastMessage frames = (LeastMessage) message;
            int next = start;
            for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                int length = frames.length(i);
                out.setShort(next, i < last ? MORE | length : length);
                out.setBytes(next + HEADER, frames.body(i), 0, length);
                next += HEADER + length;
            }
        }
    }

    /** Requests of the application's own type. */
    static final class Requests extends LeastWriter {
        @Override
        int length(Object message) {
            CustomRequest request = (CustomRequest) message;
            return 4 * HEADER + CustomRequest.ID_LENGTH + request.uri().length + request.method().length;
        }

        @Override
        void put(Object message, ByteBuf out, int start) {
            CustomRequest request = (CustomRequest) message;
            out.writerIndex(start);
            request.writeId(out.writeShort(MORE | CustomRequest.ID_LENGTH));
            out.writeShort(MORE | request.uri().length).writeBytes(request.uri());
            out.writeShort(MORE | request.method().length).writeBytes(request.method());
            out.writeShort(0);
        }
    }

    /** Replies of the application's own type. */
    static final class Replies extends LeastWriter {
        @Override
        int length(Object message) {
            return 3 * HEADER + CustomRequest.ID_LENGTH + CustomReply.STATUS_LENGTH;
        }

        @Override
        void put(Object message, ByteBuf out, int start) {
            CustomReply reply = (CustomReply) message;
            out.writerIndex(start);
            reply.writeId(out.writeShort(MORE | CustomRequest.ID_LENGTH));
            reply.writeStatus(out.writeShort(MORE | CustomReply.STATUS_LENGTH));
            out.writeShort(0);
        }
    }
}
