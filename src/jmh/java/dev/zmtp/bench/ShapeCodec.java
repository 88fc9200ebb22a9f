package dev.zmtp.bench;

import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;

/**
 * An encoder and a decoder of an application whose messages are a {@link Shape}.
 *
 * <p>They allocate nothing, so that what is allocated is the codec's.
 */
final class ShapeCodec {

    private ShapeCodec() {}

    /** Writes the frames of a shape, out of one source of bytes. */
    static final class Encoder implements ZMTPEncoder {
        private final ByteBuf bytes;

        /** {@code bytes} is as long as the longest frame, and is still the caller's to release. */
        Encoder(ByteBuf bytes) {
            this.bytes = bytes;
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
                writer.frame(length, i < last).writeBytes(bytes, 0, length);
            }
        }

        @Override
        public void close() {}
    }

    /** Skips what it is given, and fires the shape if the numbers of frames and bytes are right. */
    static final class Decoder implements ZMTPDecoder {
        private final Shape shape;
        private final int expected;
        private int frames;
        private int bytes;

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
            bytes += data.readableBytes();
            data.skipBytes(data.readableBytes());
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            if (frames != shape.size() || bytes != expected) {
                throw new IllegalStateException(shape + ": " + frames + " frames of " + bytes + " bytes (expected: "
                        + shape.size() + " of " + expected + ")");
            }
            frames = 0;
            bytes = 0;
            out.add(shape);
        }

        @Override
        public void close() {}
    }
}
