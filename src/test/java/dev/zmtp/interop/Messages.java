package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Messages with unpooled heap frames: both sides of a test may keep them, and need not release them. */
final class Messages {

    private Messages() {}

    /** A message of UTF-8 frames. */
    static ZMTPMessage of(String... frames) {
        List<byte[]> bytes = new ArrayList<>();
        for (String frame : frames) {
            bytes.add(frame.getBytes(StandardCharsets.UTF_8));
        }
        return of(bytes);
    }

    /** A message of these frames, which are not copied. */
    static ZMTPMessage of(List<byte[]> frames) {
        List<ByteBuf> buffers = new ArrayList<>();
        for (byte[] frame : frames) {
            buffers.add(Unpooled.wrappedBuffer(frame));
        }
        return ZMTPMessage.from(buffers);
    }

    /** A message with a frame of bytes that look random, but are the same each time, for each length. */
    static ZMTPMessage ofLengths(int... lengths) {
        Random random = new Random(lengths.length);
        List<byte[]> frames = new ArrayList<>();
        for (int length : lengths) {
            byte[] frame = new byte[length];
            random.nextBytes(frame);
            frames.add(frame);
        }
        return of(frames);
    }

    /** What an XPUB reads and an XSUB writes to subscribe to {@code topic} or to cancel it. */
    static ZMTPMessage rawSubscription(boolean subscribe, String topic) {
        return of((subscribe ? "\1" : "\0") + topic);
    }

    /** {@code message} after an empty frame, as a request and its reply are sent. */
    static ZMTPMessage delimited(ZMTPMessage message) {
        return message.push(Unpooled.EMPTY_BUFFER);
    }

    /** {@code message} after the frame {@code identity}, with which a ROUTER names the receiver or the sender. */
    static ZMTPMessage addressed(byte[] identity, ZMTPMessage message) {
        return message.push(Unpooled.wrappedBuffer(identity));
    }

    /** A copy of {@code message}, which is released. */
    static ZMTPMessage heap(ZMTPMessage message) {
        try {
            return of(frames(message));
        } finally {
            message.release();
        }
    }

    /** The bytes of each frame, copied. */
    static List<byte[]> frames(ZMTPMessage message) {
        List<byte[]> frames = new ArrayList<>();
        for (ByteBuf frame : message) {
            frames.add(ByteBufUtil.getBytes(frame));
        }
        return frames;
    }
}
