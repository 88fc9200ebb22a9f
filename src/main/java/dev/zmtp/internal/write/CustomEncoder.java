package dev.zmtp.internal.write;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.EmptyByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ReferenceCounted;
import org.jspecify.annotations.Nullable;

/** The encoder that the user has configured, with its estimator and writer. */
final class CustomEncoder {

    private final ZMTPEncoder encoder;
    private final MessageEstimator estimator;
    private final MessageWriter writer;

    /**
     * A class without a reference count. It is cached because checking each object takes as long as writing a frame.
     */
    private @Nullable Class<?> uncounted;

    CustomEncoder(ZMTPEncoder encoder, ZMTPVersion version) {
        this.encoder = encoder;
        this.estimator = new MessageEstimator(version);
        this.writer = new MessageWriter(version);
    }

    /**
     * Returns whether the user's encoder writes {@code message}. That includes an empty {@code ByteBuf}, unless it is
     * Netty's own.
     */
    boolean takes(Object message) {
        return !(message instanceof EmptyByteBuf
                || message instanceof ZMTPSubscription
                || message instanceof ZMTPMembership);
    }

    /** Returns the encoded length of {@code message} in bytes, as estimated by the encoder. */
    int estimate(Object message) {
        estimator.reset();
        encoder.estimate(message, estimator);
        return estimator.size();
    }

    /** Appends the frames of {@code message} to {@code out}. */
    void encode(Object message, ByteBuf out) {
        writer.begin(out);
        try {
            encoder.encode(message, writer);
            writer.checkComplete();
        } finally {
            writer.end();
        }
    }

    /** Releases a message after it was encoded, or failed to be encoded. */
    void release(Object message) {
        if (message.getClass() == uncounted) {
            return;
        }
        if (message instanceof ReferenceCounted) {
            ReferenceCountUtil.safeRelease(message);
        } else {
            uncounted = message.getClass();
        }
    }

    void close() {
        encoder.close();
    }
}
