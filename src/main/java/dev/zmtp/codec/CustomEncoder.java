package dev.zmtp.codec;

import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;

/** The encoder that the user has configured, with what it estimates by and writes to. */
final class CustomEncoder {

    private final ZMTPEncoder encoder;
    private final ZMTPEstimator estimator;
    private final ZMTPWriter writer;

    CustomEncoder(ZMTPEncoder encoder, ZMTPVersion version) {
        this.encoder = encoder;
        this.estimator = new ZMTPEstimator(version);
        this.writer = new ZMTPWriter(version);
    }

    /** Returns how many bytes {@code message} will take, by the encoder's own estimate. */
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

    void close() {
        encoder.close();
    }
}
