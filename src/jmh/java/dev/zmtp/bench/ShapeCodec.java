package dev.zmtp.bench;

import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;

/**
 * An encoder and a decoder of an application whose message is a {@link Shape}.
 *
 * <p>They allocate nothing, so that what is allocated is the codec's.
 */
final class ShapeCodec {

    private ShapeCodec() {}

    /** Writes the frames of a shape, out of one source of octets. */
    static final class Encoder implements ZMTPEncoder {
        private final ByteBuf octets;

        /** {@code octets} has as many as the longest frame, and stays the caller's. */
        Encoder(ByteBuf octets) {
            this.octets = octets;
        }

        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            Shape shape = (Shape) message;
            for (int i = 0; i < shape.size(); i++) {
                estimator.frame(shape.frame(i));
            }
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            Shape shape = (Shape) message;
            int last = shape.size() - 1;
            for (int i = 0; i <= last; i++) {
                int length = shape.frame(i);
                writer.frame(length, i < last).writeBytes(octets, 0, length);
            }
        }

        @Override
        public void close() {}
    }

    /** Skips what it is given, and fires the shape if it was given so many frames and octets. */
    static final class Decoder implements ZMTPDecoder {
        private final Shape shape;
        private final int expected;
        private int frames;
        private int octets;

        Decoder(Shape shape) {
            this.shape = shape;
            this.expected = shape.bodyLength();
        }

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            frames++;
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            octets += data.readableBytes();
            data.skipBytes(data.readableBytes());
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            if (frames != shape.size() || octets != expected) {
                throw new IllegalStateException(shape + ": " + frames + " frames of " + octets + " octets (expected: "
                        + shape.size() + " of " + expected + ")");
            }
            frames = 0;
            octets = 0;
            out.add(shape);
        }

        @Override
        public void close() {}
    }
}
