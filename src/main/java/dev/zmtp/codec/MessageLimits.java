package dev.zmtp.codec;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPMechanism.FrameCipher;

/** Judges frames by their headers: here and nowhere else, before an octet of the body is awaited or memory is taken. */
final class MessageLimits {

    /** What a frame behind the first of its message counts beside its octets: about what it costs to keep. */
    private static final int FRAME_OVERHEAD = 64;

    private final int maxCommandLength;
    private final int maxFrameLength;
    private final int maxMessageFrames;
    private final long maxMessageLength;

    /** The longest frame that is a message of its own. */
    private final long maxOnlyFrame;

    private int frames;
    private long length;
    private boolean onlyFrame;

    MessageLimits(ZMTPConfig config) {
        maxCommandLength = config.maxCommandLength();
        maxFrameLength = config.maxFrameLength();
        maxMessageFrames = config.maxMessageFrames();
        maxMessageLength = config.maxMessageLength();
        maxOnlyFrame = Math.min(maxFrameLength, maxMessageLength);
    }

    /** Whether the message frame that was judged last is the only one of its message. */
    boolean isOnlyFrame() {
        return onlyFrame;
    }

    /** Judges a frame with these flags and octets. Commands may stand between the frames of a message. */
    void judge(int flags, long octets) {
        if (flags == 0 && frames == 0 && octets <= maxOnlyFrame) {
            onlyFrame = true; // most messages
            return;
        }
        if ((flags & ZMTPVersion.COMMAND) != 0) {
            check("command length", octets, maxCommandLength);
            return;
        }
        check("frame length", octets, maxFrameLength);
        // An attacker's endless empty frames cost memory too: their number and their overhead are bounded.
        length += frames == 0 ? octets : octets + FRAME_OVERHEAD;
        frames++;
        check("message frames", frames, maxMessageFrames);
        check("message length", length, maxMessageLength);
        boolean last = (flags & ZMTPVersion.MORE) == 0;
        onlyFrame = last && frames == 1;
        if (last) {
            frames = 0;
            length = 0;
        }
    }

    /** Judges the frame around a sealed one: it holds no more than the larger of the two that it may hold. */
    void judgeSealed(int flags, long octets, FrameCipher cipher) {
        if (flags != 0) {
            throw ZMTPException.malformed("frame flags", flags, "0 on an encrypted frame");
        }
        int limit = Math.max(maxFrameLength, maxCommandLength);
        check("encrypted frame length", octets, limit + (long) cipher.sealedLength(0));
    }

    private static void check(String what, long value, long limit) {
        if (value > limit) {
            throw ZMTPException.tooLarge(what, value, limit);
        }
    }
}
