package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.List;

/** A user's decoder that makes the same messages as the codec, and reads bytes in one of several ways. */
final class Parts implements ZMTPDecoder {

    /** How a decoder takes what it is given. */
    enum Manner {
        /** All of it. */
        ALL,
        /** Half of it, again and again. */
        HALF,
        /** Nothing until the frame is whole. */
        WHOLE,
        /** A retained slice of all but the last byte, until the frame is whole. */
        SLICE
    }

    private final Manner manner;
    private final List<ByteBuf> frames = new ArrayList<>();
    private final List<ByteBuf> slices = new ArrayList<>();
    private ByteBuf frame;
    private long length;
    private boolean more;
    private boolean closed;

    Parts(Manner manner) {
        this.manner = manner;
    }

    @Override
    public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
        open("header");
        FuzzFailure.unless(frame == null || isFrameWhole(), "header", "before the end of the frame");
        keep();
        this.length = length;
        this.more = more;
        frame = ctx.alloc().buffer(0);
    }

    @Override
    public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
        open("content");
        FuzzFailure.unless(data.readableBytes() <= length - taken(), "content", data);
        switch (manner) {
            case ALL -> frame.writeBytes(data);
            case HALF -> frame.writeBytes(data, (data.readableBytes() + 1) / 2);
            case WHOLE -> {
                if (data.readableBytes() == length) {
                    frame.writeBytes(data);
                }
            }
            case SLICE -> {
                int bytes = data.readableBytes();
                slices.add(data.readRetainedSlice(taken() + bytes == length ? bytes : bytes - 1));
            }
        }
    }

    @Override
    public void finish(ChannelHandlerContext ctx, List<Object> out) {
        open("finish");
        FuzzFailure.unless(!more && isFrameWhole(), "finish", "before the end of the message");
        keep();
        out.add(ZMTPMessage.from(frames));
        frames.clear();
    }

    private void open(String call) {
        FuzzFailure.unless(!closed, call, "behind close");
    }

    private long taken() {
        return frame.readableBytes()
                + slices.stream().mapToLong(ByteBuf::readableBytes).sum();
    }

    private boolean isFrameWhole() {
        return taken() == length;
    }

    private void keep() {
        if (frame != null) {
            for (ByteBuf slice : slices) {
                frame.writeBytes(slice);
                slice.release();
            }
            slices.clear();
            frames.add(frame);
            frame = null;
        }
    }

    @Override
    public void close() {
        open("close");
        closed = true;
        keep();
        frames.forEach(ByteBuf::release);
        frames.clear();
    }
}
