package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPFraming;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Reads messages, and fires them. */
abstract class LeastReader extends ChannelInboundHandlerAdapter {

    /** Enough for the longest read of Netty's after the start of a message. */
    private static final int CAPACITY = 128 << 10;

    /** The start of a message whose end has not arrived, or null. */
    private ByteBuf part;

    /** Takes the frame of {@code length} bytes at {@code index}. Returns the message that ends with it, or null. */
    abstract Object take(ByteBuf in, int index, int length, boolean last);

    /** Forgets the frames of a message that is not complete: they are taken again. */
    void restart() {}

    @Override
    public final void channelRead(ChannelHandlerContext ctx, Object read) {
        ByteBuf in = (ByteBuf) read;
        if (part != null) {
            in = part.writeBytes(in);
            ((ByteBuf) read).release();
            part = null;
        }
        int start = in.readerIndex(); // of a message
        int index = start; // of a frame
        int end = in.writerIndex();
        while (end - index >= LeastWriter.HEADER) {
            int header = in.getShort(index);
            int length = header & 0xff;
            index += LeastWriter.HEADER;
            if (end - index < length) {
                break;
            }
            Object message = take(in, index, length, (header & LeastWriter.MORE) == 0);
            index += length;
            if (message != null) {
                start = index;
                ctx.fireChannelRead(message);
            }
        }
        if (start < end) {
            restart();
            part = ctx.alloc().directBuffer(CAPACITY).writeBytes(in, start, end - start);
        }
        in.release();
    }

    /** Messages of one frame, each copied into the same array. */
    static final class OneFrame extends LeastReader {
        private final byte[] body = new byte[ZMTPFraming.V2.maxShortBody()];

        @Override
        Object take(ByteBuf in, int index, int length, boolean last) {
            in.getBytes(index, body, 0, length);
            return body;
        }
    }

    /** Messages of some frames, each in the same object. */
    static final class Frames extends LeastReader {
        private final LeastMessage message = new LeastMessage();
        private boolean complete;

        @Override
        Object take(ByteBuf in, int index, int length, boolean last) {
            if (complete) { // the message before
                message.clear();
            }
            message.add(in, index, length);
            complete = last;
            return last ? message : null;
        }

        @Override
        void restart() {
            complete = true;
        }
    }

    /** Objects of the application's own type: an id, some fields, and an empty frame. */
    private abstract static class Objects extends LeastReader {
        long idHigh;
        long idLow;
        private int frame;

        /** Reads the field in the frame after {@code frame} others. */
        abstract void field(int frame, ByteBuf in, int index, int length);

        abstract Object make();

        @Override
        final Object take(ByteBuf in, int index, int length, boolean last) {
            if (last) {
                frame = 0;
                return make();
            }
            if (frame == 0) {
                idHigh = in.getLong(index);
                idLow = in.getLong(index + Long.BYTES);
            } else {
                field(frame, in, index, length);
            }
            frame++;
            return null;
        }

        @Override
        final void restart() {
            frame = 0;
        }
    }

    /** Requests. */
    static final class Requests extends Objects {
        private byte[] uri;
        private byte[] method;

        @Override
        void field(int frame, ByteBuf in, int index, int length) {
            byte[] bytes = new byte[length];
            in.getBytes(index, bytes);
            if (frame == 1) {
                uri = bytes;
            } else {
                method = bytes;
            }
        }

        @Override
        Object make() {
            return new CustomRequest(idHigh, idLow, uri, method);
        }
    }

    /** Replies. */
    static final class Replies extends Objects {
        private int status;

        @Override
        void field(int frame, ByteBuf in, int index, int length) {
            status = in.getInt(index);
        }

        @Override
        Object make() {
            return new CustomReply(idHigh, idLow, status);
        }
    }
}
