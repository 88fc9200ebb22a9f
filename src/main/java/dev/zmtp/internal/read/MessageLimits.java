package dev.zmtp.internal.read;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Overhead;

/**
 * Checks every frame header against the configured limits, before any of the body is read or memory is allocated for
 * it.
 */
public final class MessageLimits {

    private final int maxCommandLength;
    private final int maxFrameLength;
    private final int maxMessageFrames;
    private final long maxMessageLength;

    /** The longest message that can be kept until it is complete. */
    private final long maxKept;

    /** The longest frame that is a message on its own. */
    private final long maxOnlyFrame;

    private int frames;
    private long length;
    private boolean firstFrame;

    /**
     * @param sealed whether a frame is kept until it can be opened
     */
    public MessageLimits(ZMTPConfig config, boolean sealed) {
        maxCommandLength = config.maxCommandLength();
        maxFrameLength = config.maxFrameLength();
        maxMessageFrames = config.maxMessageFrames();
        maxMessageLength = config.maxMessageLength();
        boolean keepsMessages = config.decoder() == null && !config.socketType().isSendOnly();
        maxKept = sealed || keepsMessages ? config.memoryBudget().limit() : Long.MAX_VALUE;
        maxOnlyFrame = Math.min(maxKept, Math.min(maxFrameLength, maxMessageLength));
    }

    /** Returns whether the message frame that was checked last is the first one of its message. */
    public boolean isFirstFrame() {
        return firstFrame;
    }

    /** The frame that was checked last is not part of a message: with the next one, another message begins. */
    public void restart() {
        frames = 0;
        length = 0;
    }

    /** Returns how many frames of an unfinished message were checked; 0 between two messages. */
    public int unfinishedFrames() {
        return frames;
    }

    /**
     * Checks a frame with these flags and this length. Commands may come between the frames of a message.
     *
     * @throws ZMTPException if a limit is exceeded
     */
    public void check(int flags, long frameLength) {
        if (flags == 0 && frames == 0 && frameLength <= maxOnlyFrame) {
            firstFrame = true; // most messages
            return;
        }
        if ((flags & ZMTPFraming.COMMAND) != 0) {
            check("command length", frameLength, maxCommandLength);
            return;
        }
        check("frame length", frameLength, maxFrameLength);
        // An attacker's endless empty frames cost memory too: their number and their overhead are bounded.
        length += frames == 0 ? frameLength : frameLength + Overhead.PER_FRAME;
        frames++;
        check("message frames", frames, maxMessageFrames);
        check("message length", length, maxMessageLength);
        checkKept(length);
        boolean last = (flags & ZMTPFraming.MORE) == 0;
        firstFrame = frames == 1;
        if (last) {
            restart();
        }
    }

    /**
     * Checks the frame around a sealed one, which may be a message frame or a command: which of them, only the content
     * says. Its own flags MORE and COMMAND mean nothing, as they are not sealed.
     *
     * @param overhead by how many bytes a sealed body is longer than its content
     * @throws ZMTPException if it is longer than either may be at this place of a message
     */
    public void checkSealed(long frameLength, int overhead) {
        long rest = frames == 0 ? maxMessageLength : maxMessageLength - length - Overhead.PER_FRAME;
        long limit = Math.max(maxCommandLength, Math.min(maxFrameLength, rest));
        check("encrypted frame length", frameLength, limit + overhead);
        checkKept(frameLength);
    }

    /** Nothing of a message that does not fit is kept: the rest of it would end the connection all the same. */
    private void checkKept(long bytes) {
        if (bytes > maxKept) {
            throw ZMTPException.of(
                    ZMTPException.Code.TOO_LARGE, "message length", bytes, "<= " + maxKept + ", the memoryBudget");
        }
    }

    private static void check(String what, long value, long limit) {
        if (value > limit) {
            throw ZMTPException.tooLarge(what, value, limit);
        }
    }
}
