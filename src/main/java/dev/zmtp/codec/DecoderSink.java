package dev.zmtp.codec;

import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives frames to the user's decoder as their octets arrive, and fires what it makes of them. */
final class DecoderSink implements MessageSink {

    private final ZMTPCodec codec;
    private final ChannelHandlerContext ctx;
    private final FrameReader reader;
    private final ZMTPDecoder decoder;
    private final List<Object> out = new ArrayList<>();

    private boolean more;
    private int remaining;
    private boolean closed;

    /** What the decoder left unread of a frame that is not complete. */
    private @Nullable ByteBuf unread;

    DecoderSink(ZMTPCodec codec, FrameReader reader, ZMTPDecoder decoder) {
        this.codec = codec;
        this.ctx = codec.ctx();
        this.reader = reader;
        this.decoder = decoder;
    }

    @Override
    public void header(int length, boolean more) {
        this.more = more;
        remaining = length;
        decoder.header(ctx, length, more, out);
        fire();
    }

    @Override
    public boolean body(ByteBuf in) {
        int octets = Math.min(remaining, in.readableBytes());
        if (octets == 0 && remaining > 0) {
            return false;
        }
        remaining -= octets;
        if (remaining == 0) {
            reader.bodyTaken();
        }
        content(in, octets);
        if (remaining > 0) {
            return false;
        }
        finish();
        return true;
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        header(length, more);
        if (closed) {
            return;
        }
        remaining = 0;
        int end = in.readerIndex() + length;
        int readable = in.writerIndex();
        in.writerIndex(end); // the decoder sees nothing behind the frame; a slice would be garbage for each
        try {
            decoder.content(ctx, in, out);
            if (in.readerIndex() < end && in.readerIndex() > end - length && !closed) {
                decode(in); // it took a part: it may take the rest
            }
        } finally {
            in.setIndex(end, readable);
        }
        fire();
        finish();
    }

    private void finish() {
        if (!more && !closed) {
            decoder.finish(ctx, out);
            fire();
        }
    }

    /** Gives the next {@code octets} of {@code in} to the decoder, behind what it left unread. */
    private void content(ByteBuf in, int octets) {
        if (unread != null) {
            decode(unread.writeBytes(in, octets));
        } else {
            int end = in.readerIndex() + octets;
            int readable = in.writerIndex();
            in.writerIndex(end);
            try {
                decode(in);
            } finally {
                in.setIndex(end, readable);
            }
        }
        fire();
    }

    private void decode(ByteBuf data) {
        int before;
        do {
            before = data.readerIndex();
            decoder.content(ctx, data, out);
        } while (!closed && data.isReadable() && data.readerIndex() > before);
        if (!closed) {
            keepUnread(data);
        }
    }

    private void keepUnread(ByteBuf data) {
        if (remaining == 0 || !data.isReadable()) {
            releaseUnread();
        } else if (unread == null) {
            unread = ctx.alloc().buffer(data.readableBytes()).writeBytes(data);
        } else if (unread.refCnt() == 1) {
            unread.discardSomeReadBytes();
        } else { // the decoder retained a part, and its octets must not move
            ByteBuf rest = ctx.alloc().buffer(data.readableBytes()).writeBytes(data);
            unread.release();
            unread = rest;
        }
    }

    private void releaseUnread() {
        if (unread != null) {
            unread.release();
            unread = null;
        }
    }

    private void fire() {
        if (!out.isEmpty()) {
            fireAll();
        }
    }

    private void fireAll() {
        if (out.size() == 1) {
            fire(out.remove(0));
            return;
        }
        Object[] decoded = out.toArray();
        out.clear();
        for (Object message : decoded) {
            fire(message);
        }
    }

    /** Who closed the channel gets nothing more; who only removed the codec gets what was decoded until then. */
    private void fire(Object message) {
        if (closed && !codec.isRemoved()) {
            ReferenceCountUtil.safeRelease(message);
        } else {
            codec.fireMessage(message);
        }
    }

    @Override
    public void close() {
        closed = true;
        releaseUnread();
        out.forEach(ReferenceCountUtil::safeRelease); // what was decoded just before the decoder failed
        out.clear();
        decoder.close();
    }
}
