package dev.zmtp.internal.runtime;

import io.netty.handler.codec.EncoderException;
import io.netty.util.IllegalReferenceCountException;

/** Failure of the write of a message that was released. Nothing of it was sent, so the connection goes on. */
public final class MessageRefusal extends EncoderException {

    private static final long serialVersionUID = 1;

    public MessageRefusal(String text, IllegalReferenceCountException cause) {
        super(text, cause);
    }

    /** Returns the failure of a write with this cause, of which nothing was sent if {@code undone}. */
    public static EncoderException of(Throwable cause, boolean undone) {
        if (cause instanceof EncoderException known) {
            return known;
        }
        return undone && cause instanceof IllegalReferenceCountException released
                ? new MessageRefusal("message: released (expected: owned by the channel)", released)
                : new EncoderException(cause);
    }

    /** Returns the failure of the write of a message without frames. A released message has none. */
    public static EncoderException withoutFrames(int references) {
        return references == 0
                ? of(new IllegalReferenceCountException(0), true)
                : new EncoderException("message frames: 0 (expected: >= 1)");
    }
}
