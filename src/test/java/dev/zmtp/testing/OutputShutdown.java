package dev.zmtp.testing;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;

/** A channel of a test whose output alone may be shut down. */
public interface OutputShutdown extends DuplexChannel {

    @Override
    default ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    default boolean isInputShutdown() {
        return false;
    }

    @Override
    default ChannelFuture shutdownInput() {
        throw new AssertionError("input");
    }

    @Override
    default ChannelFuture shutdownInput(ChannelPromise promise) {
        throw new AssertionError("input");
    }

    @Override
    default boolean isShutdown() {
        return false;
    }

    @Override
    default ChannelFuture shutdown() {
        throw new AssertionError("both");
    }

    @Override
    default ChannelFuture shutdown(ChannelPromise promise) {
        throw new AssertionError("both");
    }
}
