package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;

/** Makes a {@link ZMTPMessage} of frames. Commands between the frames of a message do not come here. */
final class MessageAssembler implements MessageSink {

    private final ZMTPCodec codec;
    private final FrameReader reader;

    /** The frames before the last one. */
    private final List<ByteBuf> frames = new ArrayList<>(0);

    private boolean more;

    /** How many of the frames keep no read buffer. */
    private int detached;

    MessageAssembler(ZMTPCodec codec, FrameReader reader) {
        this.codec = codec;
        this.reader = reader;
    }

    @Override
    public void header(int length, boolean more) {
        this.more = more;
    }

    @Override
    public boolean body(ByteBuf in) {
        ByteBuf frame = reader.readBody(in, codec.ctx().alloc());
        if (frame == null) {
            return false;
        }
        frame(frame);
        return true;
    }

    @Override
    public void whole(ByteBuf body, boolean more) {
        this.more = more;
        frame(body.retain());
    }

    private void frame(ByteBuf frame) {
        if (more) {
            frames.add(frame);
        } else if (frames.isEmpty()) {
            codec.fireMessage(ZMTPMessage.from(frame));
        } else {
            frames.add(frame);
            ZMTPMessage message = ZMTPMessage.from(frames);
            frames.clear();
            detached = 0;
            codec.fireMessage(message);
        }
    }

    /**
     * Takes small frames of an unfinished message out of the read buffer. A peer could else make us keep a read buffer for
     * each octet, with one octet of a message that never ends in each.
     */
    @Override
    public void readEnded(int capacity) {
        for (; detached < frames.size(); detached++) {
            ByteBuf frame = frames.get(detached);
            int length = frame.readableBytes();
            if (length > 0 && length < capacity / 2) {
                frames.set(detached, codec.ctx().alloc().buffer(length).writeBytes(frame));
                frame.release();
            }
        }
    }

    @Override
    public void close() {
        frames.forEach(ReferenceCountUtil::safeRelease);
        frames.clear();
    }
}
