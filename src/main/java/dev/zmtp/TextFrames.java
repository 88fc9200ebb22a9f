package dev.zmtp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Creates frames from text. */
final class TextFrames {

    private TextFrames() {}

    /**
     * Returns a frame for each string, to be released by the caller. If a string cannot be encoded, no frame remains
     * allocated.
     */
    static List<ByteBuf> encode(ByteBufAllocator alloc, Charset charset, Iterable<? extends CharSequence> texts) {
        List<ByteBuf> frames = new ArrayList<>();
        try {
            for (CharSequence text : texts) {
                frames.add(encode(alloc, charset, text));
            }
        } catch (Throwable e) {
            frames.forEach(ReferenceCountUtil::safeRelease);
            throw e;
        }
        return frames;
    }

    private static ByteBuf encode(ByteBufAllocator alloc, Charset charset, CharSequence text) {
        if (text.isEmpty()) {
            return Unpooled.EMPTY_BUFFER;
        }
        if (charset.equals(StandardCharsets.UTF_8)) {
            return ByteBufUtil.writeUtf8(alloc, text);
        }
        byte[] bytes = text.toString().getBytes(charset);
        return alloc.buffer(bytes.length).writeBytes(bytes);
    }
}
