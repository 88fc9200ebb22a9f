package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages in a stream of bytes and why it ends, found the slow way, with all bytes at hand.
 *
 * <p>It follows the RFCs and what the settings promise, and shares no code with the library, so that a fault of the one
 * is not a fault of the other.
 */
final class Model {

    private static final int MORE = 1;
    private static final int LONG = 2;
    private static final int COMMAND = 4;
    private static final int FRAME_OVERHEAD = 64;

    private final ZMTPVersion version;
    private final ZMTPConfig limits;
    private final ByteBuf in;
    private final List<ByteBuf> frames = new ArrayList<>();
    private final List<String> messages = new ArrayList<>();
    private boolean malformed;
    private boolean tooLarge;
    private boolean commands;
    private long messageLength;

    /** Reads {@code bytes} in the framing of {@code version}, within the limits of a config. */
    Model(ZMTPVersion version, ZMTPConfig limits, byte[] bytes) {
        this.version = version;
        this.limits = limits;
        in = Unpooled.wrappedBuffer(bytes);
        boolean more = true;
        while (more) {
            more = frame();
        }
    }

    /** The whole messages before the end, or before the first fault. */
    List<String> messages() {
        return messages;
    }

    /** Whether there are commands, whose own grammar is not looked at. */
    boolean hasCommands() {
        return commands;
    }

    /** The fault that ends it: the code of a {@code ZMTPException}, or nothing. */
    String fault() {
        return malformed ? "MALFORMED" : tooLarge ? "TOO_LARGE" : "";
    }

    private boolean frame() {
        if (!in.isReadable()) {
            return false;
        }
        int flags;
        long length;
        int first = in.readUnsignedByte();
        if (version == ZMTPVersion.ZMTP10) {
            malformed = first == 0;
            boolean isLong = first == 0xff;
            if (malformed || in.readableBytes() < (isLong ? 9 : 1)) {
                return false;
            }
            long counted = isLong ? in.readLong() : first; // the flags, too
            malformed = counted < 1;
            length = counted - 1;
            flags = in.readByte() & MORE;
        } else {
            flags = first;
            boolean isLong = (flags & LONG) != 0;
            if (in.readableBytes() < (isLong ? 8 : 1)) {
                return false;
            }
            length = isLong ? in.readLong() : in.readUnsignedByte();
            int known = version.hasCommands() ? MORE | LONG | COMMAND : MORE | LONG;
            malformed = length < 0 || (flags & ~known) != 0 || (flags & (MORE | COMMAND)) == (MORE | COMMAND);
        }
        boolean command = !malformed && (flags & COMMAND) != 0;
        commands |= command;
        if (malformed || isTooLarge(command, length) || length > in.readableBytes()) {
            return false;
        }
        ByteBuf body = in.readSlice((int) length);
        if (!command) {
            add(body, (flags & MORE) != 0);
        }
        return true;
    }

    private boolean isTooLarge(boolean command, long length) {
        if (command) {
            tooLarge = length > limits.maxCommandLength();
        } else {
            int others = frames.size();
            tooLarge = length > limits.maxFrameLength()
                    || others + 1 > limits.maxMessageFrames()
                    || messageLength + length + (others == 0 ? 0 : FRAME_OVERHEAD) > limits.maxMessageLength();
        }
        return tooLarge;
    }

    private void add(ByteBuf body, boolean more) {
        messageLength += body.readableBytes() + (frames.isEmpty() ? 0 : FRAME_OVERHEAD);
        frames.add(body);
        if (!more) {
            messages.add(Words.of(ZMTPMessage.from(frames))); // not released: the bytes are an array's
            frames.clear();
            messageLength = 0;
        }
    }
}
