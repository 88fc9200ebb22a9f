package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.WrittenMessages;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.function.IntConsumer;

/** A channel that may be told to have written something, and to have no room. */
public class WrittenChannel extends EmbeddedChannel implements WrittenMessages {

    private IntConsumer listener = messages -> {};

    public WrittenChannel(ChannelHandler... handlers) {
        super(handlers);
    }

    @Override
    public void onWritten(IntConsumer listener) {
        this.listener = listener;
    }

    public void written(int messages) {
        listener.accept(messages);
    }

    public void writable(boolean now) {
        unsafe().outboundBuffer().setUserDefinedWritability(1, now);
    }
}
