package dev.zmtp.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoop;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Hooks that an event loop runs in its last pass, in which it takes no more tasks. */
class LastPassTest {

    /** An event loop with a task in each of its other passes, which keeps its hooks from running. */
    private static final class BusyLoop extends DefaultEventLoop {

        @Override
        protected boolean confirmShutdown() {
            if (isShuttingDown() && !isShutdown()) {
                execute(() -> {});
            }
            return super.confirmShutdown();
        }
    }

    private static final class Ends extends ChannelInboundHandlerAdapter {

        private final List<String> seen = new CopyOnWriteArrayList<>();

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            seen.add("inactive");
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            seen.add("removed");
        }
    }

    @Test
    void theHandlersOfAChannelSeeItsEnd() throws InterruptedException {
        Ends reader = new Ends();
        BusyLoop loop = new BusyLoop();
        try (EventLoops writers = new EventLoops(1);
                InprocEnds ends = new InprocEnds(writers.group(), loop, QueueLimit.DEFAULT, reader)) {
            loop.execute(() -> loop.shutdownGracefully(0, 0, TimeUnit.SECONDS));

            assertThat(loop.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                    .isTrue();
            assertThat(ends.accepted.isOpen()).isFalse();
            assertThat(reader.seen).containsExactly("inactive", "removed");
        }
    }

    /** The first end tells the other one, which then has two tasks that close it. */
    @Test
    void theHandlersSeeTheEndOfAChannelThatWasClosedInAnEarlierPass() throws InterruptedException {
        Ends reader = new Ends();
        DefaultEventLoop loop = new DefaultEventLoop();
        try (InprocEnds ends = new InprocEnds(loop, loop, QueueLimit.DEFAULT, reader)) {
            loop.execute(() -> {
                loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
                loop.execute(() -> {}); // the hooks run in the pass after this one, and their tasks in the last
            });

            assertThat(loop.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                    .isTrue();
            assertThat(ends.accepted.isOpen()).isFalse();
            assertThat(reader.seen).containsExactly("inactive", "removed");
        }
    }
}
