package dev.zmtp.internal.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A phase in the life of a connection: what the codec does with it then. On the channel's event loop only.
 *
 * <p>{@link Connection#enter} is the only place where one phase follows another: it leaves the old one and enters the
 * new one. The codec does not ask which phase it is in; a phase does what is right for it.
 */
public abstract class Phase {

    protected final Connection connection;

    private boolean current;

    protected Phase(Connection connection) {
        this.connection = connection;
    }

    /** Returns whether the codec is in this phase. False as soon as another one was entered, even by a callback. */
    public final boolean isCurrent() {
        return current;
    }

    /** For {@link Connection#enter} alone, which then calls {@link #end} or {@link #begin}. */
    final void setCurrent(boolean current) {
        this.current = current;
    }

    /** Called once, when the codec has entered this phase. */
    public void begin() {}

    /** The channel is active. */
    public void connected() {}

    /**
     * The user connects the channel to {@code peer}. Returns the promise to connect with, by which this one completes.
     */
    public ChannelPromise connecting(SocketAddress peer, ChannelPromise promise) {
        return promise;
    }

    /** Describes a close by the user in this phase, for the report of a handshake that ends with it. */
    public String describeUserClose() {
        return "by this side";
    }

    /** Takes bytes from {@code in}, which stays the caller's, until it has none or another phase was entered. */
    public abstract void read(ByteBuf in);

    /** Called after each read: compacts what is incomplete, since the rest may take long to arrive. */
    public void compact() {}

    /** As {@link dev.zmtp.internal.wire.FrameReader#nextRead}. */
    @Nullable
    public ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        return null;
    }

    /** What was read is decoded, or waits. A handler before the codec may close the channel next. */
    public void decoded() {}

    /** The transport has nothing more to read for now. */
    public void readComplete() {}

    /** The bytes of memory that are kept for the peer in this phase. */
    public long kept() {
        return 0;
    }

    /**
     * The mechanism can go on: another thread has computed or decided what it waits for.
     *
     * @param first tells the mechanism
     */
    public void resume(Runnable first) {}

    /** The user reads again after a time without reads. */
    public void readResumed() {}

    /** Takes over {@code message} and {@code promise}. */
    public abstract void write(Object message, ChannelPromise promise);

    /** Writes what was held during the handshake, and flushes it if asked. The success is not announced yet. */
    public void drain() {}

    /** The success was announced: from here on messages may be fired. */
    public void open() {}

    /** The user wants what was written to be sent. */
    public abstract void flush();

    /** The channel has become writable or unwritable. */
    public void writabilityChanged() {}

    /** The peer will send nothing more. ZMTP has no half-closed state, so the connection ends. */
    public abstract void inputEnded();

    /** Describes what of the peer's has arrived in part, for an exception message; null if that ends nothing early. */
    @Nullable
    public String unfinishedInput() {
        return null;
    }

    /** A handler before the codec, or a callback, has failed. */
    public abstract void exceptionCaught(Throwable cause);

    /**
     * The transport did not take bytes of ours.
     *
     * @param isVoid whether the promise of a write was void, so that only exceptionCaught can report the failure
     */
    public abstract void writeFailed(Throwable cause, boolean isVoid);

    /** The codec was removed from the pipeline. Returns why the connection cannot outlive that, or null if it can. */
    @Nullable
    public Throwable whyRemovalIsFatal() {
        return null;
    }

    /** Called once, when the codec leaves this phase, for {@code cause} if that is a failure: releases what is held. */
    public void end(@Nullable Throwable cause) {}

    /** What the codec does in this phase, in words for messages and logs. */
    @Override
    public abstract String toString();
}
