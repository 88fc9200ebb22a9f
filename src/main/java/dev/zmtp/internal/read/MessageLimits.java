package dev.zmtp.internal.read;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPFraming;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.internal.connection.Overhead;
import org.jspecify.annotations.Nullable;

/**
 * Checks every frame header against the configured limits, before any of the body is read or memory is allocated for
 * it.
 */
public final class MessageLimits {

    private final int maxCommandLength;
    private final int maxFrameLength;
    private final int maxMessageFrames;
    private final long maxMessageLength;

    /** Maximum length of a message that can be retained until it is complete. */
    private final long maxKept;

    /** Maximum length of a sealed frame, which is retained until it can be opened. */
    private final long maxSealed;

    /** Maximum length of a frame that is a whole message. */
    private final long maxOnlyFrame;

    private int frames;
    private long length;
    private boolean firstFrame;

    /** @param sealed whether a frame is retained until it can be opened */
    public MessageLimits(ZMTPConfig config, boolean sealed) {
        maxCommandLength = config.maxCommandLength();
        maxFrameLength = config.maxFrameLength();
        maxMessageFrames = config.maxMessageFrames();
        maxMessageLength = config.maxMessageLength();
        boolean keepsMessages = config.decoder() == null && !config.socketType().isSendOnly();
        maxKept = keepsMessages ? config.memoryBudget().limit() : Long.MAX_VALUE;
        maxSealed = sealed ? config.memoryBudget().limit() : Long.MAX_VALUE;
        maxOnlyFrame = Math.min(maxKept, Math.min(maxFrameLength, maxMessageLength));
    }

    /** Returns whether the last checked message frame is the first frame of its message. */
    public boolean isFirstFrame() {
        return firstFrame;
    }

    /** Called when the last checked frame is not part of a message. The next frame begins another message. */
    public void restart() {
        frames = 0;
        length = 0;
    }

    /** Describes the message whose last frame was not checked; null between messages. */
    @Nullable
    public String unfinished() {
        return frames == 0 ? null : "message: " + frames + " frames (expected: more)";
    }

    /**
     * Checks a frame with these flags and this length. Commands can be between the frames of a message.
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
        // Endless empty frames of an attacker use memory too, so their number and their overhead are limited.
        length += frames == 0 ? frameLength : frameLength + Overhead.PER_FRAME;
        frames++;
        check("message frames", frames, maxMessageFrames);
        check("message length", length, maxMessageLength);
        checkKept("message length", length, maxKept);
        boolean last = (flags & ZMTPFraming.MORE) == 0;
        firstFrame = frames == 1;
        if (last) {
            restart();
        }
    }

    /**
     * Checks the frame around a sealed frame, which can be a message frame or a command, depending on its content. The
     * outer flags MORE and COMMAND have no meaning, because they are not sealed.
     *
     * @param overhead number of bytes by which a sealed body is longer than its content
     * @throws ZMTPException if it is longer than both a message frame and a command may be at this point of a message
     */
    public void checkSealed(long frameLength, int overhead) {
        long rest = frames == 0 ? maxMessageLength : maxMessageLength - length - Overhead.PER_FRAME;
        long limit = Math.max(maxCommandLength, Math.min(maxFrameLength, rest));
        check("encrypted frame length", frameLength, limit + overhead);
        checkKept("encrypted frame length", frameLength, maxSealed);
    }

    /**
     * Checks that the message or frame fits into the budget. No part of one that does not fit is retained, because its
     * rest would end the connection anyway.
     */
    private static void checkKept(String what, long bytes, long limit) {
        if (bytes > limit) {
            throw ZMTPException.of(ZMTPException.Code.TOO_LARGE, what, bytes, "<= " + limit + ", the memoryBudget");
        }
    }

    private static void check(String what, long value, long limit) {
        if (value > limit) {
            throw ZMTPException.tooLarge(what, value, limit);
        }
    }
}
