package dev.zmtp.codec;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.wire.FrameReader;
import io.netty.buffer.ByteBuf;

/** Makes a {@link ZMTPMessage} of frames. Commands between the frames of a message do not come here. */
final class MessageAssembler implements MessageSink {

    /**
     * Frames of up to so many octets are copied. That costs no more than a reference does, and who keeps one small message
     * of a thousand does not keep the octets of all.
     */
    private static final int COPY_LIMIT = 1024;

    private final ZMTPCodec codec;
    private final FrameReader reader;
    private final ZMTPMessage.Builder message = new ZMTPMessage.Builder();

    private boolean more;

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
        if (reader.isBodyIn(in)) {
            reader.bodyTaken();
            frame(in, (int) reader.length(), more);
            return true;
        }
        ByteBuf frame = reader.readBody(in, codec.ctx().alloc());
        if (frame == null) {
            return false;
        }
        message.add(frame);
        added(more);
        return true;
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        if (length <= COPY_LIMIT || (more && !FrameReader.isMostOf(in, length))) {
            // The latter, as a peer could else make us keep a read buffer for each frame of a message that never ends.
            message.copy(in, length);
        } else {
            message.add(in.readRetainedSlice(length));
        }
        added(more);
    }

    private void added(boolean more) {
        if (!more) {
            codec.fireMessage(message.build());
        }
    }

    @Override
    public void close() {
        message.clear();
    }
}
