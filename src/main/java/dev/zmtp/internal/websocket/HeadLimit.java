package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.util.function.Consumer;

/**
 * Counts the bytes and the lines of the first head of HTTP before a parser keeps them, and leaves the pipeline at the
 * end of the head. Interim answers before the head of an answer are counted with it (RFC 9110, section 15.2). A peer
 * that does not speak HTTP is refused at its first byte, instead of at the end of a line.
 */
final class HeadLimit extends ChannelInboundHandlerAdapter {

    /** Maximum number of bytes of a head. */
    static final int MAX_LENGTH = 8_192;

    /** Maximum number of headers. */
    static final int MAX_HEADERS = 64;

    /** Index of the status in the first line of an answer. */
    private static final int STATUS = "HTTP/1.1 ".length();

    private final WebSocketRole role;
    private final Consumer<ZMTPException> refusal;
    private int length;
    private int lines;
    private int lineLength;

    /** Number of bytes before the current head, which are those of interim answers. */
    private int before;

    private int status;
    private boolean refused;

    /** @param refusal called once, after which the rest is dropped */
    HeadLimit(WebSocketRole role, Consumer<ZMTPException> refusal) {
        this.role = role;
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

    /** Counts up to the empty line at the end of the last head. Returns whether it is in {@code bytes}. */
    private boolean isEndIn(ByteBuf bytes) {
        for (int i = bytes.readerIndex(); i < bytes.writerIndex(); i++) {
            int next = bytes.getUnsignedByte(i);
            if (length == 0 && (next < 'A' || next > 'Z')) {
                throw ZMTPException.malformed("first byte", "0x" + Integer.toHexString(next), "HTTP");
            }
            countStatus(next);
            if (++length > MAX_LENGTH) {
                throw ZMTPException.tooLarge("HTTP head length", length, MAX_LENGTH);
            }
            if (next == '\n') {
                if (lineLength == 0 && !isInterim()) {
                    return true;
                }
                if (lineLength == 0) {
                    before = length;
                    status = 0;
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

    private void countStatus(int next) {
        int index = length - before - STATUS;
        if (index >= 0 && index < 3) {
            status = 10 * status + next - '0';
        }
    }

    /** Returns whether another head follows. */
    private boolean isInterim() {
        return role == WebSocketRole.CLIENT
                && status >= 100
                && status < 200
                && status != ClientUpgrade.SWITCHING_PROTOCOLS;
    }
}
