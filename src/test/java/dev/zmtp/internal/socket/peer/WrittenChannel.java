package dev.zmtp.internal.socket.peer;

import dev.zmtp.internal.runtime.TransportCounts;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import org.jspecify.annotations.Nullable;

/** A channel that may be told to have written something, and to have no room. */
public class WrittenChannel extends EmbeddedChannel implements TransportCounts {

    private @Nullable Listener listener;

    public WrittenChannel(ChannelHandler... handlers) {
        super(handlers);
    }

    @Override
    public void listen(Listener listener) {
        this.listener = listener;
    }

    public void written(int messages) {
        listener.written(messages);
    }

    public void writable(boolean now) {
        unsafe().outboundBuffer().setUserDefinedWritability(1, now);
    }
}
