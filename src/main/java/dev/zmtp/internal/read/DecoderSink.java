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

/** Passes the bytes of frames to the user's decoder as they arrive, and fires the decoded objects. */
public final class DecoderSink implements StreamingSink {

    /**
     * The list is replaced after this many objects, because storing into a tenured list costs a GC write barrier with a
     * fence, which takes longer than decoding a short frame (decision 020).
     */
    private static final int MAX_LISTED = 1024;

    private final Connection connection;
    private final ChannelHandlerContext ctx;
    private final ZMTPDecoder decoder;

    /** The decoded objects that were not fired yet. */
    private List<Object> out = new ArrayList<>();

    /** The number of objects that have been in the list. */
    private int listed;

    /**
     * True if the channel was closed after the call of the decoder and before a message was fired, either by the
     * decoder or by the transport because of a write of the decoder. Set by a listener, because checking the channel
     * after each call costs as much as a short frame.
     */
    private boolean closedInCall;

    private final ChannelFutureListener onClose = closing -> closedInCall = true;

    /** True if another frame of the message follows the current frame. */
    private boolean more;

    private boolean closed;

    /** The bytes of an incomplete frame that the decoder left unread. */
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
        // Does not call part, because most frames are whole and this path is shorter.
        int end = in.readerIndex() + length;
        int readable = in.writerIndex();
        in.writerIndex(end); // hides the bytes after the frame; a slice would be garbage per frame
        try {
            decoder.content(ctx, in, out);
            endIfClosed();
            if (in.readerIndex() < end && in.readerIndex() > end - length && !closed) {
                decode(in, true); // it read a part, and can now read the rest
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

    /**
     * Ends the connection after {@code ctx.close()} by the decoder, which bypasses the codec. The codec must not
     * continue with the rest of the read.
     */
    private void endIfClosed() {
        if (closedInCall) {
            if (isClosedByTransport()) {
                closedInCall = false; // so that the read data is still decoded and fired
            } else {
                connection.closed("by this side");
            }
        }
    }

    /**
     * Returns whether a write of the decoder has failed and the transport has therefore closed the channel. Netty
     * provides the reason only to later writes. A close by the user has no cause.
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

    /**
     * Fires a decoded object. After a close, decoded objects are dropped. After a removal, they are still delivered.
     */
    private void fire(Object message) {
        if (closed && !connection.wasRemoved()) {
            ReferenceCountUtil.safeRelease(message);
        } else {
            connection.fireMessage(message);
            closedInCall = false; // a handler has run, so its failed write can have closed the channel by now
        }
    }

    @Override
    public long kept() {
        return unread == null ? 0 : unread.capacity();
    }

    @Override
    public void close() {
        closed = true;
        ctx.channel().closeFuture().removeListener(onClose); // the channel can outlive the codec
        releaseUnread();
        out.forEach(ReferenceCountUtil::safeRelease); // objects decoded immediately before the decoder failed
        out.clear();
        decoder.close();
    }
}
