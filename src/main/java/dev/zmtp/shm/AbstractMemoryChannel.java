package dev.zmtp.shm;

import dev.zmtp.internal.runtime.LoopHooks;
import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.internal.StringUtil;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import org.jspecify.annotations.Nullable;

/**
 * Byte channel that its event loop does not manage, so it detects the end of the loop itself. Any thread can shut down
 * either half, and the other half continues.
 *
 * <p>Public methods of this class are not final. The public subclass therefore has bridges to them, which method
 * references in other packages need.
 */
abstract class AbstractMemoryChannel extends AbstractChannel implements DuplexChannel {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    private final Runnable loopEnds = LoopHooks.closing(this); // one object, so that it can be removed
    private volatile boolean inputShutdown;
    private volatile boolean outputShutdown;

    AbstractMemoryChannel(@Nullable Channel parent) {
        super(parent);
    }

    /** Connects to {@code server}. The channel is open, and the promise is not complete. Called on the event loop. */
    abstract void doConnect(SocketAddress server, ChannelPromise promise);

    /** Signals to the other side that no data follows. Called on the event loop. */
    abstract void endOutput();

    /** Drops readable data, now and later. Called on the event loop. */
    abstract void endInput();

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected final boolean isCompatible(EventLoop loop) {
        return true; // if not, the socket says so when it is registered
    }

    @Override
    protected final Object filterOutboundMessage(Object msg) {
        if (msg instanceof ByteBuf) {
            return msg;
        }
        throw new UnsupportedOperationException(
                "message type: " + StringUtil.simpleClassName(msg) + " (expected: ByteBuf)");
    }

    @Override
    protected final AbstractUnsafe newUnsafe() {
        return new MemoryUnsafe();
    }

    @Override
    @SuppressWarnings("deprecation") // what takes its place is not in Netty 4.1
    protected void doRegister() throws Exception {
        LoopHooks.add(eventLoop(), loopEnds);
    }

    @Override
    protected final void doDisconnect() throws Exception {
        doClose();
    }

    /** Closes an open channel, because its turns belong to a single event loop. */
    @Override
    protected final void doDeregister() {
        boolean wasActive = isActive();
        if (isOpen()) {
            closeNow();
        }
        if (wasActive) {
            pipeline().fireChannelInactive(); // the close would fire it after the pipeline has lost its handlers
        }
    }

    @Override
    protected void doClose() throws Exception {
        if (isRegistered()) {
            LoopHooks.remove(eventLoop(), loopEnds);
        }
    }

    /** Closes at once. Must be called on the event loop. */
    final void closeNow() {
        unsafe().close(voidPromise());
    }

    /** Writes flushed data, including data that there was no room for. */
    final void writeOn() {
        ((MemoryUnsafe) unsafe()).writeOn();
    }

    @Override
    public boolean isInputShutdown() {
        return inputShutdown || !isActive();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShutdown || !isActive();
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        return onLoop(promise, () -> {
            if (!promise.setUncancellable()) {
                return;
            }
            try {
                checkConnected();
                inputEnded();
                endInput();
                promise.setSuccess();
            } catch (Exception e) {
                promise.setFailure(e);
            }
        });
    }

    /**
     * Shuts down the output. Unwritten data fails, so flush an empty buffer before this, and call this method when that
     * buffer is written.
     */
    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        return onLoop(promise, () -> ((AbstractUnsafe) unsafe()).shutdownOutput(promise));
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        shutdownOutput()
                .addListener(output -> shutdownInput().addListener(input -> {
                    Throwable cause = output.cause() == null ? input.cause() : output.cause();
                    if (cause == null) {
                        promise.setSuccess();
                    } else {
                        promise.setFailure(cause);
                    }
                }));
        return promise;
    }

    @Override
    protected final void doShutdownOutput() throws Exception {
        checkConnected();
        outputShutdown = true;
        endOutput();
    }

    /** Records that nothing is read any more. */
    final void inputEnded() {
        inputShutdown = true;
    }

    private void checkConnected() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        if (!isActive()) {
            throw new NotYetConnectedException();
        }
    }

    private ChannelFuture onLoop(ChannelPromise promise, Runnable task) {
        if (eventLoop().inEventLoop()) {
            task.run();
        } else {
            eventLoop().execute(task);
        }
        return promise;
    }

    private final class MemoryUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress server, @Nullable SocketAddress from, ChannelPromise promise) {
            if (!promise.isDone() && ensureOpen(promise)) {
                doConnect(server, promise);
            }
        }

        void writeOn() {
            flush0();
        }
    }
}
