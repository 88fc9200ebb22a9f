package dev.zmtp.internal.read;

import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.internal.connection.Connection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Gives frames to the user's decoder as their bytes arrive, and fires what it makes of them. */
public final class DecoderSink implements StreamingSink {

    /**
     * The list is replaced after this many objects: storing into a tenured list costs a GC write barrier with a fence,
     * more than decoding a short frame (decision 020).
     */
    private static final int MAX_LISTED = 1024;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final ZMTPDecoder decoder;

    /** What the decoder has made and was not fired yet. */
    private List<Object> out = new ArrayList<>();

    /** How many objects were in the list. */
    private int listed;

    /**
     * The channel was closed since the decoder was called and before a message was fired, by the decoder or by the
     * transport for what the decoder wrote. Noted when it happens: to ask the channel after each call costs as much as
     * a short frame.
     */
    private boolean closedInCall;

    private final ChannelFutureListener onClose = closing -> closedInCall = true;

    /** Whether another frame follows the present one. */
    private boolean more;

    private boolean closed;

    /** What the decoder left unread of a frame that is not complete. */
    private @Nullable ByteBuf unread;

    public DecoderSink(Connection connection, ZMTPDecoder decoder) {
        this.connection = connection;
        this.ctx = connection.ctx();
        this.decoder = decoder;
        ctx.channel().closeFuture().addListener(onClose);
    }

    @Override
    public void begin(int length, boolean more) {
        this.more = more;
        closedInCall = false;
        decoder.header(ctx, length, more, out);
        fire();
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        begin(length, more);
        if (closed) {
            return;
        }
        // Not by way of part: most frames are whole, and this is the shorter way.
        int end = in.readerIndex() + length;
        int readable = in.writerIndex();
        in.writerIndex(end); // the decoder sees nothing after the frame; a slice would be garbage for each
        try {
            decoder.content(ctx, in, out);
            endIfClosed();
            if (in.readerIndex() < end && in.readerIndex() > end - length && !closed) {
                decode(in, true); // it took a part: it may take the rest
            }
        } finally {
            in.setIndex(end, readable);
        }
        fire();
        finish();
    }

    @Override
    public void part(ByteBuf in, int length, boolean last) {
        if (length == 0 && !last) {
            return;
        }
        closedInCall = false;
        if (unread != null) {
            decode(unread.writeBytes(in, length), last);
        } else {
            int end = in.readerIndex() + length;
            int readable = in.writerIndex();
            in.writerIndex(end);
            try {
                decode(in, last);
            } finally {
                in.setIndex(end, readable);
            }
        }
        fire();
        if (last) {
            finish();
        }
    }

    private void finish() {
        if (!more && !closed) {
            decoder.finish(ctx, out);
            fire();
        }
    }

    private void decode(ByteBuf data, boolean last) {
        int before;
        do {
            before = data.readerIndex();
            decoder.content(ctx, data, out);
            endIfClosed();
        } while (!closed && data.isReadable() && data.readerIndex() > before);
        if (!closed) {
            keepUnread(data, last);
        }
    }

    private void keepUnread(ByteBuf data, boolean last) {
        if (last || !data.isReadable()) {
            releaseUnread();
        } else if (unread == null) {
            unread = ctx.alloc().buffer(data.readableBytes()).writeBytes(data);
        } else if (unread.refCnt() == 1) {
            unread.discardSomeReadBytes();
        } else { // the decoder retained a part, and its bytes must not move
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

    /** {@code ctx.close()} by the decoder goes past the codec, which must not go on with the rest of the read. */
    private void endIfClosed() {
        if (closedInCall) {
            if (isClosedByTransport()) {
                closedInCall = false; // and so what was read is still decoded and fired
            } else {
                connection.closed("by this side");
            }
        }
    }

    /**
     * Returns whether a write of the decoder has failed, for which the transport has closed the channel. Netty keeps
     * why it did so only for those that write later: a close by the user has no cause.
     */
    private boolean isClosedByTransport() {
        ChannelPromise late = ctx.newPromise();
        ctx.channel().unsafe().write(Unpooled.EMPTY_BUFFER, late);
        return late.cause() != null && late.cause().getCause() != null;
    }

    private void fire() {
        endIfClosed();
        if (!out.isEmpty()) {
            fireAll();
        }
    }

    private void fireAll() {
        if (out.size() == 1) {
            Object message = out.remove(0);
            if (++listed == MAX_LISTED) {
                listed = 0;
                out = new ArrayList<>();
            }
            fire(message);
            return;
        }
        Object[] decoded = out.toArray();
        out.clear();
        for (Object message : decoded) {
            fire(message);
        }
    }

    /** After a close, decoded objects are dropped. After a removal, they are still delivered. */
    private void fire(Object message) {
        if (closed && !connection.wasRemoved()) {
            ReferenceCountUtil.safeRelease(message);
        } else {
            connection.fireMessage(message);
            closedInCall = false; // a handler has run: if the channel is closed now, its failed write may have done it
        }
    }

    @Override
    public long kept() {
        return unread == null ? 0 : unread.capacity();
    }

    @Override
    public void close() {
        closed = true;
        ctx.channel().closeFuture().removeListener(onClose); // the channel may outlive the codec
        releaseUnread();
        out.forEach(ReferenceCountUtil::safeRelease); // what was decoded just before the decoder failed
        out.clear();
        decoder.close();
    }
}
