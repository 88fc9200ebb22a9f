package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;

/**
 * Netty without a codec: the ceiling for a codec on Netty. It sends the bytes that netty-zmtp sends, without
 * a handshake, and knows how long messages are.
 *
 * <p>Where a workload needs to know where each message starts, a {@link Splitter} cuts the bytes.
 */
final class RawNetty implements NettyLibrary {

    /** An event: the connection is established. There is no other handshake. */
    static final Object CONNECTED = new Object();

    private final Arguments arguments;

    private RawNetty(Arguments arguments) {
        this.arguments = arguments;
    }

    static void start(Program program) throws Exception {
        if (program.arguments().workload() == Workload.CUSTOM
                || program.arguments().curve()) {
            throw new UnsupportedException("it has no codec");
        }
        NettyTransport transport = Netty42.of(program);
        NettyLibrary library = new RawNetty(program.arguments());
        CodecTraffic whole = new CodecTraffic(program, transport, library);
        NettyProgram.start(program, transport, library, new RawTraffic(program.arguments(), library, whole));
    }

    @Override
    public void addCodec(ChannelPipeline pipeline, boolean binding) {
        pipeline.addLast(connectedEvent());
        if (binding && arguments.kept()) {
            pipeline.addLast(new Splitter(length(arguments.size())));
        } else if (arguments.workload() == Workload.ROUNDTRIP) {
            pipeline.addLast(new Splitter(length(binding ? arguments.ping() : arguments.pong())));
        } else if (arguments.workload().scheduled()) {
            pipeline.addLast(new Splitter(length(arguments.size())));
        }
    }

    /** Returns a handler that fires {@link #CONNECTED}. */
    static ChannelHandler connectedEvent() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.fireUserEventTriggered(CONNECTED);
            }
        };
    }

    /** The bytes of a message of one frame. */
    static int length(int size) {
        return ZMTPVersion.ZMTP31.framing().headerLengthForBody(size) + size;
    }

    @Override
    public boolean isReady(Object event) {
        return event == CONNECTED;
    }

    @Override
    public Object message(ByteBufAllocator alloc, ByteBuf... frames) {
        ZMTPMessage message = ZMTPMessage.from(frames);
        ByteBuf bytes = message.write(alloc, ZMTPVersion.ZMTP31);
        message.release();
        return bytes;
    }

    @Override
    public Object again(Object message) {
        return ((ByteBuf) message).retainedDuplicate(); // the transport moves its index
    }

    @Override
    public Object timed(ByteBufAllocator alloc, int size, long time) {
        ByteBuf bytes = alloc.directBuffer(length(size));
        ZMTPVersion.ZMTP31.framing().writeHeader(bytes, 0, size);
        return bytes.writeLong(time).writeZero(size - Long.BYTES);
    }

    @Override
    public long firstLong(Object message) {
        ByteBuf bytes = (ByteBuf) message;
        return bytes.getLong(bytes.readerIndex() + length(arguments.size()) - arguments.size());
    }

    /** Cuts bytes into messages of one length. */
    private static final class Splitter extends ChannelInboundHandlerAdapter {
        private final int length;

        /** The start of a message whose end has not arrived, or null. */
        private ByteBuf part;

        Splitter(int length) {
            this.length = length;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            ByteBuf in = (ByteBuf) read;
            if (part != null) {
                part.writeBytes(in, Math.min(length - part.readableBytes(), in.readableBytes()));
                if (part.readableBytes() == length) {
                    ByteBuf whole = part;
                    part = null;
                    ctx.fireChannelRead(whole);
                }
            }
            while (in.readableBytes() >= length) {
                ctx.fireChannelRead(in.readRetainedSlice(length));
            }
            if (in.isReadable()) {
                part = ctx.alloc().directBuffer(length).writeBytes(in);
            }
            in.release();
        }
    }
}
