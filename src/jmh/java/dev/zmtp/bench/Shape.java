package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** A message to encode and decode: the length of each of its frames, in bytes. */
public enum Shape {
    /** One small frame. */
    FRAME_100(100),
    /** A request with its envelope, delimiter and arguments. */
    SEVEN_FRAMES(20, 21, 0, 40, 40, 40, 40),
    /** One frame with a long header, still copied when it is sent. */
    FRAME_1K(1 << 10),
    /** One frame that is sent by reference. */
    FRAME_64K(64 << 10),
    /** One frame that arrives in many reads. */
    FRAME_1M(1 << 20);

    @SuppressWarnings("ImmutableEnumChecker") // No other class sees the array.
    private final int[] frames;

    Shape(int... frames) {
        this.frames = frames;
    }

    /** How many frames it has. */
    int size() {
        return frames.length;
    }

    /** The bytes of frame {@code i}. */
    int frame(int i) {
        return frames[i];
    }

    /** The bytes of all frames, without headers. */
    int bodyLength() {
        return Arrays.stream(frames).sum();
    }

    /** The bytes of all frames with their headers. */
    int wireLength(ZMTPVersion version) {
        return Arrays.stream(frames)
                .map(length -> version.framing().headerLengthForBody(length) + length)
                .sum();
    }

    /** Returns a new message, the caller's to release; its frames are direct buffers, as received ones are. */
    ZMTPMessage message(ByteBufAllocator alloc) {
        List<ByteBuf> bodies = Arrays.stream(frames)
                .mapToObj(length -> alloc.directBuffer(Math.max(1, length)).writeZero(length))
                .collect(Collectors.toList());
        return ZMTPMessage.from(bodies);
    }
}
