package dev.zmtp.fuzz;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.test.ZMTPTestLoop;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An event loop on the fuzzer's thread, which runs when it is told to, in a time that it moves, and the sockets on it.
 */
final class SteppedLoop {

    /** One for all inputs, as the end of one takes its time; of the thread that all inputs run on. */
    private static final ZMTPTestLoop LOOP = ZMTPTestLoop.create();

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
        ZMTPSocket socket = ZMTPSocket.of(ZMTPSocketConfig.builder(codec)
                .group(LOOP.eventLoop())
                .correlateRequests(type == ZMTPSocketType.REQ)
                .maxOutstandingRequests(requests)
                .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new Watcher(arrivals)))
                .option(ChannelOption.ALLOCATOR, ledger)
                .build());
        sockets.add(socket);
        return socket;
    }

    /** The time in nanoseconds. */
    long now() {
        return LOOP.time().toNanos();
    }

    /** Runs all that is due now. */
    void run() {
        LOOP.run();
    }

    /** Lets time pass. */
    void pass(long millis) {
        LOOP.advance(Duration.ofMillis(millis));
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
        pass(Duration.ofHours(1).toMillis());
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
