package dev.zmtp.codec.writing;

import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import java.util.function.BiConsumer;

/** Encodes as a test wants, and counts how often it is closed. */
final class ScriptedEncoder implements ZMTPEncoder {
    private final int estimate;
    private final BiConsumer<Object, ZMTPWriter> encode;
    int closes;

    ScriptedEncoder(int estimate, BiConsumer<Object, ZMTPWriter> encode) {
        this.estimate = estimate;
        this.encode = encode;
    }

    @Override
    public void estimate(Object message, ZMTPEstimator estimator) {
        estimator.frame(estimate);
    }

    @Override
    public void encode(Object message, ZMTPWriter writer) {
        encode.accept(message, writer);
    }

    @Override
    public void close() {
        closes++;
    }
}
