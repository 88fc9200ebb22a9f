package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * An event loop on the fuzzer's thread, which runs when it is told to, in a time that it moves, and the sockets on it.
 */
final class SteppedLoop {

    private static final MockTicker TICKER = Ticker.newMockTicker();

    /** One for all inputs, as the end of one takes its time; of the thread that all inputs run on. */
    private static final ManualIoEventLoop LOOP =
            new ManualIoEventLoop(null, Thread.currentThread(), LocalIoHandler.newFactory(), TICKER);

    private final Ledger ledger = new Ledger(false);
    private final List<ZMTPSocket> sockets = new ArrayList<>();

    Ledger ledger() {
        return ledger;
    }

    /** A socket with this name, and so few requests at a time, and somebody who looks at each message that comes. */
    ZMTPSocket open(ZMTPSocketType type, String identity, int requests, Consumer<ZMTPMessage> arrivals) {
        ZMTPConfig codec = ZMTPConfig.builder()
                .socketType(type)
                .localIdentity(type.announcesIdentity() ? identity : "")
                .build();
        ZMTPSocket socket = ClockedSockets.open(
                ZMTPSocketConfig.builder(codec)
                        .group(LOOP)
                        .correlateRequests(type == ZMTPSocketType.REQ)
                        .maxOutstandingRequests(requests)
                        .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new Watcher(arrivals)))
                        .option(ChannelOption.ALLOCATOR, ledger)
                        .build(),
                TICKER::nanoTime);
        sockets.add(socket);
        return socket;
    }

    /** The time in nanoseconds. */
    long now() {
        return TICKER.nanoTime();
    }

    /** Runs all that is due now. */
    void run() {
        while (LOOP.runNow() > 0) {
            // there may be more
        }
    }

    /** Lets time pass. */
    void pass(long millis) {
        TICKER.advance(millis, TimeUnit.MILLISECONDS);
        run();
    }

    /** Closes the socket and runs until it is. */
    void close(ZMTPSocket socket) {
        CompletableFuture<ZMTPStats> closed = socket.closeAsync(Duration.ZERO);
        run();
        pass(100);
        FuzzFailure.unless(closed.isDone(), "not closed", socket);
        sockets.remove(socket);
    }

    /** Closes all sockets. Nothing may be left. */
    void end() {
        List.copyOf(sockets).forEach(this::close);
        pass(TimeUnit.HOURS.toMillis(1));
        FuzzFailure.unlessEqual(ledger.taken(), 0L, "bytes not released");
    }

    private static final class Watcher extends ChannelInboundHandlerAdapter {
        private final Consumer<ZMTPMessage> arrivals;

        Watcher(Consumer<ZMTPMessage> arrivals) {
            this.arrivals = arrivals;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof ZMTPMessage message) {
                arrivals.accept(message);
            }
            ctx.fireChannelRead(msg);
        }
    }
}
