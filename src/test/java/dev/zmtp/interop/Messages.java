package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Messages whose frames lie on the heap and in no pool: both sides of a test may keep them, nobody must release them. */
final class Messages {

    private Messages() {}

    /** A message of UTF-8 frames. */
    static ZMTPMessage of(String... frames) {
        List<byte[]> octets = new ArrayList<>();
        for (String frame : frames) {
            octets.add(frame.getBytes(StandardCharsets.UTF_8));
        }
        return of(octets);
    }

    /** A message of these frames, which are not copied. */
    static ZMTPMessage of(List<byte[]> frames) {
        List<ByteBuf> buffers = new ArrayList<>();
        for (byte[] frame : frames) {
            buffers.add(Unpooled.wrappedBuffer(frame));
        }
        return ZMTPMessage.from(buffers);
    }

    /** A message with a frame of octets that look random, but are the same each time, for each length. */
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

    /** What an XPUB reads and an XSUB writes to say that {@code topic} is wanted, or no longer. */
    static ZMTPMessage rawSubscription(boolean subscribe, String topic) {
        return of((subscribe ? "\1" : "\0") + topic);
    }

    /** {@code message} behind an empty frame: how a request and its answer travel. */
    static ZMTPMessage delimited(ZMTPMessage message) {
        return message.push(Unpooled.EMPTY_BUFFER);
    }

    /** {@code message} behind the frame {@code identity}: how a ROUTER says who it is for, or from. */
    static ZMTPMessage addressed(byte[] identity, ZMTPMessage message) {
        return message.push(Unpooled.wrappedBuffer(identity));
    }

    /** The octets of each frame, copied. */
    static List<byte[]> frames(ZMTPMessage message) {
        List<byte[]> frames = new ArrayList<>();
        for (ByteBuf frame : message) {
            frames.add(ByteBufUtil.getBytes(frame));
        }
        return frames;
    }
}
