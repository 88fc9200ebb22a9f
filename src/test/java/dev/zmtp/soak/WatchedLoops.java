package dev.zmtp.soak;

import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Event loops that report what is left in them. */
final class WatchedLoops extends MultiThreadIoEventLoopGroup {

    /** The names of the threads begin with this. */
    static final String THREADS = "soak-";

    private final String name;
    private final IoTransport transport;

    WatchedLoops(String name, int threads) {
        this(name, threads, IoTransport.NIO);
    }

    WatchedLoops(String name, int threads, IoTransport transport) {
        super(threads, new DefaultThreadFactory(THREADS + name), transport.newHandlers());
        this.name = name;
        this.transport = transport;
    }

    /** Returns a new event loop of the same kind. */
    WatchedLoops another(String itsName) {
        return new WatchedLoops(itsName, 1, transport);
    }

    /** Sets these loops, and channels that match them. */
    void configure(ZMTPSocketConfig.Builder socket) {
        socket.group(this);
        transport.configure(socket);
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory handlers, Object... args) {
        return new Loop(this, executor, handlers);
    }

    @Override
    public String toString() {
        return name;
    }

    /** Waits until nothing is left, at most so long, and returns what still is. */
    List<String> leftovers(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        List<String> left = look();
        while (!left.isEmpty() && deadline - System.nanoTime() > 0) {
            Thread.sleep(100);
            left = look();
        }
        return left;
    }

    private List<String> look() throws InterruptedException {
        List<String> left = new ArrayList<>();
        for (EventExecutor executor : this) {
            Loop loop = (Loop) executor;
            Callable<String> look = loop::look;
            try {
                String found = loop.submit(look).get();
                if (!found.isEmpty()) {
                    left.add(name + ": " + found);
                }
            } catch (ExecutionException e) {
                left.add(name + ": " + e.getCause());
            }
        }
        return left;
    }

    /** Ends the threads; returns whether they ended. */
    boolean end() throws InterruptedException {
        shutdownGracefully(0, Round.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        return terminationFuture().await(Round.PATIENCE.toMillis());
    }

    private static final class Loop extends SingleThreadIoEventLoop {
        Loop(WatchedLoops parent, Executor executor, IoHandlerFactory handlers) {
            super(parent, executor, handlers);
        }

        private String look() {
            String left = "";
            if (getNumOfRegisteredChannels() > 0) { // registeredChannels() does not know them
                left += getNumOfRegisteredChannels() + " channels ";
            }
            if (pendingTasks() > 0) {
                left += pendingTasks() + " tasks ";
            }
            if (nextScheduledTaskNano() >= 0) {
                left += "timers ";
            }
            return left;
        }
    }
}
