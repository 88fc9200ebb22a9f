package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import java.util.List;

/** This library, with all its defaults. */
final class NettyZmtp implements NettyLibrary {

    /** Writes of requests and answers between two flushes. */
    static final int MAX_PENDING = 64;

    private final Arguments arguments;

    private NettyZmtp(Arguments arguments) {
        this.arguments = arguments;
    }

    static void start(Program program) throws Exception {
        NettyTransport transport = Netty42.of(program);
        NettyLibrary library = new NettyZmtp(program.arguments());
        NettyProgram.start(program, transport, library, new CodecTraffic(program, transport, library));
    }

    @Override
    public void addCodec(ChannelPipeline pipeline, boolean binding) {
        if (arguments.workload() != Workload.CUSTOM && !arguments.curve()) {
            pipeline.addLast(ZMTPCodec.of(socketType(binding)));
            return;
        }
        ZMTPCodec.Builder codec = ZMTPCodec.builder().socketType(socketType(binding));
        if (arguments.workload() == Workload.CUSTOM) {
            codec.encoder(binding ? ReplyEncoder.class : RequestEncoder.class)
                    .decoder(binding ? RequestDecoder.class : ReplyDecoder.class);
        }
        if (arguments.curve()) {
            secure(codec, binding);
        }
        pipeline.addLast(codec.build());
    }

    private static void secure(ZMTPCodec.Builder codec, boolean binding) {
        if (binding) {
            codec.mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.fromSecretKey(CurveKeys.SERVER_SECRET.toCharArray())))
                    .authenticator(ZMTPAuthenticator.acceptAll());
        } else {
            codec.mechanism(ZMTPCurve.client(
                    ZMTPCurvePublicKey.of(CurveKeys.SERVER_PUBLIC),
                    ZMTPCurveKeyPair.fromSecretKey(CurveKeys.CLIENT_SECRET.toCharArray())));
        }
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
        return ZMTPMessage.from(frames);
    }

    @Override
    public Object again(Object message) {
        return ((ZMTPMessage) message).retain(); // encoding moves no index
    }

    @Override
    public Object timed(ByteBufAllocator alloc, int size, long time) {
        return ZMTPMessage.from(alloc.directBuffer(size).writeLong(time).writeZero(size - Long.BYTES));
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
        return new BatchFlusher(channel, MAX_PENDING)::flush;
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
