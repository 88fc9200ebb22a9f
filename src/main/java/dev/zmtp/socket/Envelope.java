package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import java.util.Arrays;

/** The frames before the data of a request: a name for each ROUTER on its way, then an empty frame (RFC 28). */
final class Envelope {

    /**
     * The greatest number of frames that are handled one by one. Longer envelopes are removed and added in one pass, as
     * a peer chooses their length.
     */
    private static final int SHORT = 2;

    private Envelope() {}

    /** Returns the number of frames of the envelope, including the empty one; 0 if the message is not a request. */
    static int length(ZMTPMessage message) {
        int size = message.size();
        for (int i = 0; i < size - 1; i++) {
            if (!message.frame(i).isReadable()) {
                return i + 1;
            }
        }
        return 0;
    }

    /** Returns the data after {@code frames} frames. Takes the message over. */
    static ZMTPMessage data(ZMTPMessage message, int frames) {
        if (frames > SHORT) {
            ByteBuf[] data = new ByteBuf[message.size() - frames];
            copyFrames(message, frames, data, 0);
            return ZMTPMessage.from(data);
        }
        ZMTPMessage data = message;
        for (int i = 0; i < frames; i++) {
            ZMTPMessage rest = data.pop();
            data.release();
            data = rest;
        }
        return data;
    }

    /**
     * As {@link #data(ZMTPMessage, int)} of a message that nobody else has. Frames that are copied as fast as they are
     * retained are copied, so that both messages keep their buffers for the next ones.
     */
    static ZMTPMessage data(ZMTPMessage.Builder builder, ZMTPMessage message, int frames) {
        begin(builder, message);
        for (int i = frames; i < message.size(); i++) {
            ByteBuf frame = message.frame(i);
            if (frame.readableBytes() <= ZMTPMessage.Builder.MAX_RECYCLED_FRAME) {
                builder.copy(frame, frame.readableBytes());
            } else {
                builder.add(frame.retain());
            }
        }
        message.release();
        return builder.build();
    }

    /**
     * To be called before frames are added for {@link #with}: a released message may be the very one that the builder
     * takes to add them to.
     */
    static void begin(ZMTPMessage.Builder builder, ZMTPMessage data) {
        if (data.refCnt() == 0) {
            throw new IllegalReferenceCountException(0);
        }
        builder.clear(); // of what is left of a message that failed
    }

    /** Returns the frames of the builder with those of the data after them, which is taken over. */
    static ZMTPMessage with(ZMTPMessage.Builder builder, ZMTPMessage data) {
        for (int i = 0; i < data.size(); i++) {
            builder.add(data.frame(i).retain());
        }
        data.release();
        return builder.build();
    }

    /** Returns a copy of the first frames, which refers to no other buffer. */
    static ByteBuf[] copy(ZMTPMessage message, int frames) {
        ByteBuf[] copy = new ByteBuf[frames];
        for (int i = 0; i < frames; i++) {
            ByteBuf frame = message.frame(i);
            copy[i] = frame.isReadable() ? Unpooled.copiedBuffer(frame) : Unpooled.EMPTY_BUFFER;
        }
        return copy;
    }

    /** Puts the frames before the data. Takes both over. */
    static ZMTPMessage wrap(ByteBuf[] envelope, ZMTPMessage data) {
        if (envelope.length > SHORT) {
            ByteBuf[] frames = Arrays.copyOf(envelope, envelope.length + data.size());
            copyFrames(data, 0, frames, envelope.length);
            return ZMTPMessage.from(frames);
        }
        ZMTPMessage message = data;
        for (int i = envelope.length - 1; i >= 0; i--) {
            message = push(envelope[i], message);
        }
        return message;
    }

    private static void copyFrames(ZMTPMessage from, int first, ByteBuf[] to, int at) {
        for (int i = first; i < from.size(); i++) {
            to[at + i - first] = from.frame(i).retain();
        }
        from.release();
    }

    static ZMTPMessage push(ByteBuf frame, ZMTPMessage message) {
        ZMTPMessage more = message.push(frame);
        message.release();
        return more;
    }
}
