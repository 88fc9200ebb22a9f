package dev.zmtp.bench;

import dev.zmtp.ZMTPException;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A request of an application with its own codec, or the reply to it: four frames, the last of which is empty.
 *
 * @param high the first eight bytes of the id
 * @param low the last eight bytes of the id
 * @param uri what is asked for, in ASCII
 * @param method what to do with it, in ASCII
 */
record Call(long high, long low, String uri, String method) {

    private static final int ID_LENGTH = 2 * Long.BYTES;
    private static final int MAX_TEXT_LENGTH = 1024;

    /** Writes calls. */
    static final class Encoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            Call call = (Call) message;
            estimator.frame(ID_LENGTH);
            estimator.frame(call.uri.length());
            estimator.frame(call.method.length());
            estimator.frame(0);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            Call call = (Call) message;
            writer.frame(ID_LENGTH, true).writeLong(call.high).writeLong(call.low);
            ByteBufUtil.writeAscii(writer.frame(call.uri.length(), true), call.uri);
            ByteBufUtil.writeAscii(writer.frame(call.method.length(), true), call.method);
            writer.frame(0, false);
        }

        @Override
        public void close() {}
    }

    /** Reads calls. */
    static final class Decoder implements ZMTPDecoder {
        private int frame;
        private int length;
        private long high;
        private long low;
        private String uri;
        private String method;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            frame++;
            boolean fits = switch (frame) {
                case 1 -> length == ID_LENGTH;
                case 2, 3 -> length <= MAX_TEXT_LENGTH;
                case 4 -> length == 0;
                default -> false;
            };
            if (!fits || more != (frame < 4)) {
                throw ZMTPException.malformed("call", length + " bytes in frame " + frame, "id, URI, method, nothing");
            }
            this.length = (int) length;
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            if (data.readableBytes() < length) {
                return; // what is left unread comes again, with more after it
            }
            switch (frame) {
                case 1 -> {
                    high = data.readLong();
                    low = data.readLong();
                }
                case 2 -> uri = text(data);
                case 3 -> method = text(data);
                default -> {} // the empty payload
            }
        }

        private String text(ByteBuf data) {
            return data.readCharSequence(length, StandardCharsets.US_ASCII).toString();
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            out.add(new Call(high, low, uri, method));
            frame = 0;
        }

        @Override
        public void close() {}
    }
}
