package dev.zmtp.internal.socket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An event loop without a thread: whoever plays its part runs its tasks. It takes microseconds to make. */
public final class StressedLoop extends AbstractEventExecutor implements EventLoop {

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Promise<?> termination = ImmediateEventExecutor.INSTANCE.newPromise();
    private volatile @Nullable Thread thread;
    private volatile boolean ended;

    /** Runs what was executed, and what is while it runs. */
    public void runTasks() {
        thread = Thread.currentThread();
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        thread = null;
    }

    /** Runs the tasks for the last time, and ends. */
    public void end() {
        runTasks();
        ended = true;
        runTasks(); // what was accepted at the last moment
        termination.setSuccess(null);
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (ended && tasks.remove(task)) { // in this order, as with Netty: what is accepted runs
            throw new RejectedExecutionException("ended");
        }
    }

    @Override
    public boolean inEventLoop() {
        return inEventLoop(Thread.currentThread());
    }

    @Override
    public boolean inEventLoop(Thread asked) {
        return asked == thread;
    }

    @Override
    public @Nullable EventLoopGroup parent() {
        return null;
    }

    @Override
    public EventLoop next() {
        return this;
    }

    @Override
    public boolean isShuttingDown() {
        return ended;
    }

    @Override
    public boolean isShutdown() {
        return ended;
    }

    @Override
    public boolean isTerminated() {
        return termination.isDone();
    }

    @Override
    public Future<?> terminationFuture() {
        return termination;
    }

    // What no case needs

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<?> shutdownGracefully(long quiet, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    @Deprecated
    public void shutdown() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ChannelFuture register(Channel channel) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ChannelFuture register(ChannelPromise promise) {
        throw new UnsupportedOperationException();
    }

    @Override
    @Deprecated
    public ChannelFuture register(Channel channel, ChannelPromise promise) {
        throw new UnsupportedOperationException();
    }
}
