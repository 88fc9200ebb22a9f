package dev.zmtp.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPromise;
import org.jspecify.annotations.Nullable;

/**
 * What the codec does with its connection at one point of its life. On the channel's event loop only.
 *
 * <p>{@link ZMTPCodec#enter} is the only place where one phase follows another; it ends the old one and begins the new.
 */
abstract class Phase {

    final ZMTPCodec codec;

    Phase(ZMTPCodec codec) {
        this.codec = codec;
    }

    /** Whether this is still what the codec does. False as soon as another phase was entered, also by a callback. */
    final boolean isCurrent() {
        return codec.isIn(this);
    }

    /** Called once, when the codec has entered this phase. */
    void begin() {}

    /** Takes octets from {@code in}, which stays the caller's, until there are none or another phase was entered. */
    abstract void read(ByteBuf in);

    /** The end of what the transport had to read for now. */
    void readComplete() {}

    /** Takes over {@code message} and {@code promise}. */
    abstract void write(Object message, ChannelPromise promise);

    /** The user wants what was written to leave. */
    abstract void flush();

    /** The user reads again, after a time in which nothing was read. */
    void listening() {}

    /** The channel has become writable or unwritable. */
    void writabilityChanged() {}

    /** Called once, when the codec leaves this phase, for {@code cause} if that is a failure: lets go of what is held. */
    void end(@Nullable Throwable cause) {}

    @Override
    public String toString() {
        return getClass().getSimpleName();
    }
}
