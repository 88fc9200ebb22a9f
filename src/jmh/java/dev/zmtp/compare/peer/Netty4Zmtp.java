package dev.zmtp.compare.peer;

import com.spotify.netty4.handler.codec.zmtp.ZMTPCodec;
import com.spotify.netty4.handler.codec.zmtp.ZMTPDecoder;
import com.spotify.netty4.handler.codec.zmtp.ZMTPEncoder;
import com.spotify.netty4.handler.codec.zmtp.ZMTPEstimator;
import com.spotify.netty4.handler.codec.zmtp.ZMTPHandshakeSuccess;
import com.spotify.netty4.handler.codec.zmtp.ZMTPMessage;
import com.spotify.netty4.handler.codec.zmtp.ZMTPSocketType;
import com.spotify.netty4.handler.codec.zmtp.ZMTPWriter;
import com.spotify.netty4.util.BatchFlusher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import java.util.Arrays;
import java.util.List;

/**
 * The predecessor, netty4-zmtp 0.4.0, on the version of Netty it was made for, 4.0.
 *
 * <p>Compiled against Netty 4.2, so only methods that both versions have may be called here.
 */
final class Netty4Zmtp implements NettyLibrary {

    private final Arguments arguments;

    private Netty4Zmtp(Arguments arguments) {
        this.arguments = arguments;
    }

    static void start(Program program) throws Exception {
        if (program.arguments().curve()) {
            throw new UnsupportedException("it has no mechanism but NULL");
        }
        NettyTransport transport = Netty40.of(program);
        NettyLibrary library = new Netty4Zmtp(program.arguments());
        NettyProgram.start(program, transport, library, new CodecTraffic(program, transport, library));
    }

    @Override
    public void addCodec(ChannelPipeline pipeline, boolean binding) {
        ZMTPCodec.Builder codec = ZMTPCodec.builder().socketType(socketType(binding));
        if (arguments.workload() == Workload.CUSTOM) {
            codec.encoder(binding ? ReplyEncoder.class : RequestEncoder.class)
                    .decoder(binding ? RequestDecoder.class : ReplyDecoder.class);
        }
        pipeline.addLast(codec.build());
    }

    private ZMTPSocketType socketType(boolean binding) {
        if (arguments.workload().answered() || arguments.role() == Role.PAIR) {
            return binding ? ZMTPSocketType.ROUTER : ZMTPSocketType.DEALER;
        }
        return binding ? ZMTPSocketType.PULL : ZMTPSocketType.PUSH;
    }

    @Override
    public boolean isReady(Object event) {
        return event instanceof ZMTPHandshakeSuccess;
    }

    @Override
    public Object message(ByteBufAllocator alloc, ByteBuf... frames) {
        return ZMTPMessage.from(Arrays.asList(frames));
    }

    @Override
    public Object again(Object message) {
        return ((ZMTPMessage) message).retain(); // here, too, encoding moves no index
    }

    @Override
    public Object timed(ByteBufAllocator alloc, int size, long time) {
        return message(alloc, alloc.directBuffer(size).writeLong(time).writeZero(size - Long.BYTES));
    }

    @Override
    public int firstByte(Object message) {
        ByteBuf frame = ((ZMTPMessage) message).frame(0);
        return frame.getByte(frame.readerIndex());
    }

    @Override
    public long firstLong(Object message) {
        ByteBuf frame = ((ZMTPMessage) message).frame(0);
        return frame.getLong(frame.readerIndex());
    }

    @Override
    public Runnable flusher(Channel channel) {
        return new BatchFlusher(channel, 64)::flush;
    }

    /** Writes requests. */
    static final class RequestEncoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            CustomRequest request = (CustomRequest) message;
            estimator.frame(CustomRequest.ID_LENGTH);
            estimator.frame(request.uri().length);
            estimator.frame(request.method().length);
            estimator.frame(0);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            CustomRequest request = (CustomRequest) message;
            request.writeId(writer.frame(CustomRequest.ID_LENGTH, true));
            writer.frame(request.uri().length, true).writeBytes(request.uri());
            writer.frame(request.method().length, true).writeBytes(request.method());
            writer.frame(0, false);
        }

        @Override
        public void close() {}
    }

    /** Writes replies. */
    static final class ReplyEncoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(CustomRequest.ID_LENGTH);
            estimator.frame(CustomReply.STATUS_LENGTH);
            estimator.frame(0);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            CustomReply reply = (CustomReply) message;
            reply.writeId(writer.frame(CustomRequest.ID_LENGTH, true));
            reply.writeStatus(writer.frame(CustomReply.STATUS_LENGTH, true));
            writer.frame(0, false);
        }

        @Override
        public void close() {}
    }

    /** Reads requests. */
    static final class RequestDecoder implements ZMTPDecoder {
        private final CustomReader reader = new CustomReader();

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            reader.header(length);
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            reader.request(data);
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            out.add(reader.request());
        }

        @Override
        public void close() {}
    }

    /** Reads replies. */
    static final class ReplyDecoder implements ZMTPDecoder {
        private final CustomReader reader = new CustomReader();

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            reader.header(length);
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            reader.reply(data);
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            out.add(reader.reply());
        }

        @Override
        public void close() {}
    }
}
