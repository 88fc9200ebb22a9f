package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPFraming;
import dev.zmtp.codec.BatchFlusher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;

/**
 * The least pair of handlers that can do the work of a codec: the ceiling for one on Netty.
 *
 * <p>One writes headers of two bytes and copies messages into an open buffer; the other copies each body out and fires
 * the same object again and again, or makes the application's own. They check nothing: no limits, no phases, no other
 * lengths.
 */
final class LeastHandlers implements NettyLibrary {

    private final Workload workload;

    private LeastHandlers(Workload workload) {
        this.workload = workload;
    }

    static void start(Program program) throws Exception {
        Arguments arguments = program.arguments();
        Workload workload = arguments.workload();
        boolean isKnown = switch (workload) {
            case ONEWAY -> arguments.size() <= ZMTPFraming.V2.maxShortBody();
            case REQREP, CUSTOM -> true;
            default -> false;
        };
        if (!isKnown || arguments.curve()) {
            throw new UnsupportedException("it has messages one way and requests only, of short frames");
        }
        NettyTransport transport = Netty42.of(program);
        NettyLibrary library = new LeastHandlers(workload);
        NettyProgram.start(program, transport, library, new CodecTraffic(program, transport, library));
    }

    @Override
    public void addCodec(ChannelPipeline pipeline, boolean binding) {
        if (workload == Workload.ONEWAY) {
            pipeline.addLast(binding ? new LeastReader.OneFrame() : new LeastWriter.OneFrame());
        } else if (workload == Workload.REQREP) {
            pipeline.addLast(new LeastWriter.Frames(), new LeastReader.Frames());
        } else if (binding) {
            pipeline.addLast(new LeastWriter.Replies(), new LeastReader.Requests());
        } else {
            pipeline.addLast(new LeastWriter.Requests(), new LeastReader.Replies());
        }
        pipeline.addLast(RawNetty.connectedEvent());
    }

    @Override
    public boolean isReady(Object event) {
        return event == RawNetty.CONNECTED;
    }

    @Override
    public Object message(ByteBufAllocator alloc, ByteBuf... frames) {
        return workload == Workload.ONEWAY ? frames[0] : LeastMessage.of(frames);
    }

    @Override
    public Object again(Object message) {
        return message instanceof ByteBuf frame ? frame.retain() : message; // writing moves no index
    }

    @Override
    public int firstByte(Object message) {
        return ((byte[]) message)[0];
    }

    @Override
    public Runnable flusher(Channel channel) {
        return new BatchFlusher(channel, NettyZmtp.MAX_PENDING)::flush;
    }
}
