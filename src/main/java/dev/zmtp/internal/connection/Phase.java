package dev.zmtp.internal.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A phase in the life of a connection, with the behavior of the codec in this phase. Used only on the channel's event
 * loop.
 *
 * <p>All transitions between phases are in {@link Connection#enter}, which leaves the old phase and enters the new
 * phase. The codec never checks its current phase, because each phase implements its own behavior.
 */
public abstract class Phase {

    protected final Connection connection;

    private boolean current;

    protected Phase(Connection connection) {
        this.connection = connection;
    }

    /** Returns whether the codec is in this phase. False as soon as another phase was entered, even by a callback. */
    public final boolean isCurrent() {
        return current;
    }

    /** For use only by {@link Connection#enter}, which then calls {@link #end} or {@link #begin}. */
    final void setCurrent(boolean current) {
        this.current = current;
    }

    /** Called once, when the codec has entered this phase. */
    public void begin() {}

    /** Called when the channel is active. */
    public void connected() {}

    /**
     * Called when the user connects the channel to {@code peer}. Returns the promise to connect with, which completes
     * this promise.
     */
    public ChannelPromise connecting(SocketAddress peer, ChannelPromise promise) {
        return promise;
    }

    /** Describes a close by the user in this phase, for the report of a handshake that ends with it. */
    public String describeUserClose() {
        return "by this side";
    }

    /**
     * Reads bytes from {@code in}, which the caller continues to own, until it is empty or another phase was entered.
     */
    public abstract void read(ByteBuf in);

    /** Called after each read. Compacts incomplete data, because the rest can take long to arrive. */
    public void compact() {}

    /** Like {@link dev.zmtp.internal.wire.FrameReader#nextRead}. */
    @Nullable
    public ByteBuf nextRead(ByteBufAllocator alloc, int usual) {
        return null;
    }

    /** Called when the read data is decoded or queued. A handler before the codec can close the channel next. */
    public void decoded() {}

    /** Called when the peer has sent bytes that a handler before the codec retains until more arrive. */
    public void heard() {}

    /** Called when the transport currently has nothing more to read. */
    public void readComplete() {}

    /** Returns the number of bytes of memory that are retained for the peer in this phase. */
    public long kept() {
        return 0;
    }

    /**
     * Resumes the mechanism, because another thread has completed the computation or decision that it waits for.
     *
     * @param first passes the result to the mechanism
     */
    public void resume(Runnable first) {}

    /** Called when the user reads again after a time without reads. */
    public void readResumed() {}

    /** Takes ownership of {@code message} and {@code promise}. */
    public abstract void write(Object message, ChannelPromise promise);

    /** Writes the writes held during the handshake, and flushes them if requested. The success is not announced yet. */
    public void drain() {}

    /** Called when the success was announced. Messages can be fired from now on. */
    public void open() {}

    /** Called when the user flushes. */
    public abstract void flush();

    /** Called when the channel has become writable or unwritable. */
    public void writabilityChanged() {}

    /** Called when the peer has ended its input. ZMTP has no half-closed state, so the connection ends. */
    public abstract void inputEnded();

    /** Returns a description of the peer's partial input, for an exception message, or null if nothing is cut short. */
    @Nullable
    public String unfinishedInput() {
        return null;
    }

    /** Called when a handler before the codec, or a callback, has failed. */
    public abstract void exceptionCaught(Throwable cause);

    /**
     * Called when the transport did not accept bytes of this side.
     *
     * @param isVoid whether the promise of a write was void, so that only exceptionCaught can report the failure
     */
    public abstract void writeFailed(Throwable cause, boolean isVoid);

    /**
     * Called when the codec was removed from the pipeline. Returns the reason why the connection has to end, or null if
     * it can continue.
     */
    @Nullable
    public Throwable whyRemovalIsFatal() {
        return null;
    }

    /**
     * Called once, when the codec leaves this phase, with {@code cause} if that is a failure. Releases all retained
     * data.
     */
    public void end(@Nullable Throwable cause) {}

    /** Describes the activity of the codec in this phase, for messages and logs. */
    @Override
    public abstract String toString();
}
