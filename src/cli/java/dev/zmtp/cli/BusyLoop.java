package dev.zmtp.cli;

import dev.zmtp.shm.SharedMemoryChannelOption;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.ThreadAwareExecutor;
import org.jspecify.annotations.Nullable;

/** An event loop that never sleeps, because waking up a thread takes longer than the message. */
final class BusyLoop implements IoHandlerFactory {

    private final IoHandlerFactory sleeping = NioIoHandler.newFactory();

    private BusyLoop() {}

    /** Makes a socket use such a loop, over shared memory as well. */
    static void use(SocketOptions options, ZMTPSocketConfig.Builder config) {
        config.group(new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("busy", true), new BusyLoop()));
        if (options.usesSharedMemory()) {
            config.option(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE);
        }
    }

    @Override
    public IoHandler newHandler(ThreadAwareExecutor executor) {
        return new Busy(sleeping.newHandler(executor));
    }

    @Override
    public boolean isChangingThreadSupported() {
        return sleeping.isChangingThreadSupported();
    }

    /** Forwards all calls, and never lets the transport wait. */
    private static final class Busy implements IoHandler {
        private final IoHandler handler;
        private @Nullable Awake awake;

        Busy(IoHandler handler) {
            this.handler = handler;
        }

        @Override
        public void initialize() {
            handler.initialize();
        }

        @Override
        public int run(IoHandlerContext context) {
            Awake now = awake;
            if (now == null || now.context != context) { // it is always the same
                now = new Awake(context);
                awake = now;
            }
            return handler.run(now);
        }

        @Override
        public void prepareToDestroy() {
            handler.prepareToDestroy();
        }

        @Override
        public void destroy() {
            handler.destroy();
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            return handler.register(handle);
        }

        @Override
        public void wakeup() {
            handler.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> handleType) {
            return handler.isCompatible(handleType);
        }
    }

    private record Awake(IoHandlerContext context) implements IoHandlerContext {

        @Override
        public boolean canBlock() {
            return false;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return context.delayNanos(currentTimeNanos);
        }

        @Override
        public long deadlineNanos() {
            return context.deadlineNanos();
        }

        @Override
        public void reportActiveIoTime(long nanos) {
            context.reportActiveIoTime(nanos);
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return context.shouldReportActiveIoTime();
        }
    }
}
