package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Consumer;

/**
 * Counts the bytes and the lines of the first head of HTTP before a parser keeps them, and leaves the pipeline at the
 * end of the head. A peer that does not speak HTTP is refused at its first byte, instead of at the end of a line.
 */
final class HeadLimit extends ChannelInboundHandlerAdapter {

    /** Maximum number of bytes of a head. */
    static final int MAX_LENGTH = 8_192;

    /** Maximum number of headers. */
    static final int MAX_HEADERS = 64;

    private final Consumer<ZMTPException> refusal;
    private int length;
    private int lines;
    private int lineLength;
    private boolean refused;

    /** @param refusal called once, after which the rest is dropped */
    HeadLimit(Consumer<ZMTPException> refusal) {
        this.refusal = refusal;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (refused) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (message instanceof ByteBuf bytes) {
            try {
                if (isEndIn(bytes)) {
                    ctx.pipeline().remove(this);
                }
            } catch (ZMTPException e) {
                refused = true;
                bytes.release();
                refusal.accept(e);
                return;
            }
        }
        ctx.fireChannelRead(message);
    }

    /** Counts up to the empty line at the end of the head. Returns whether it is in {@code bytes}. */
    private boolean isEndIn(ByteBuf bytes) {
        for (int i = bytes.readerIndex(); i < bytes.writerIndex(); i++) {
            int next = bytes.getUnsignedByte(i);
            if (length == 0 && (next < 'A' || next > 'Z')) {
                throw ZMTPException.malformed("first byte", "0x" + Integer.toHexString(next), "HTTP");
            }
            if (++length > MAX_LENGTH) {
                throw ZMTPException.tooLarge("HTTP head length", length, MAX_LENGTH);
            }
            if (next == '\n') {
                if (lineLength == 0) {
                    return true;
                }
                lineLength = 0;
                if (++lines > 1 + MAX_HEADERS) { // after the first line
                    throw ZMTPException.tooLarge("HTTP headers", lines - 1L, MAX_HEADERS);
                }
            } else if (next != '\r') {
                lineLength++;
            }
        }
        return false;
    }
}
