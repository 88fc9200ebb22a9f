package dev.zmtp.internal.read;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.wire.Retention;
import io.netty.buffer.ByteBuf;

/** Assembles a {@link ZMTPMessage} from frames. */
public final class MessageAssembler implements MessageSink {

    private final Connection connection;
    private final ZMTPMessage.Builder message = new ZMTPMessage.Builder();

    /** The memory of the frames of the unfinished message. */
    private long kept;

    public MessageAssembler(Connection connection) {
        this.connection = connection;
    }

    @Override
    public void frame(ByteBuf in, int length, boolean more) {
        if (length <= ZMTPMessage.Builder.MAX_RECYCLED_FRAME || (more && !Retention.isWorthKeeping(in, length))) {
            // The second case prevents a peer from making this side retain a read buffer for each frame of an endless
            // message.
            message.copy(in, length);
        } else {
            message.add(in.readRetainedSlice(length));
        }
        if (!more) {
            ZMTPMessage complete = message.build();
            kept = 0;
            connection.fireMessage(complete);
        }
    }

    @Override
    public void compact() {
        message.compact();
        kept = message.memory();
    }

    @Override
    public long kept() {
        return kept;
    }

    @Override
    public void close() {
        message.clear();
    }
}
