package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The count of the messages of a connection, and what it costs. */
class PeerWritesTest {

    private static final int MESSAGES = 20;

    /** Counts what comes to the transport. */
    private static final class Writes extends ChannelOutboundHandlerAdapter {
        private final AtomicInteger writes = new AtomicInteger();
        private final AtomicInteger flushes = new AtomicInteger();
        private Runnable whenFlushed = () -> {};

        @Override
        public void write(ChannelHandlerContext ctx, Object written, ChannelPromise promise) {
            if (written instanceof ByteBuf) {
                writes.incrementAndGet();
            }
            ctx.write(written, promise);
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            flushes.incrementAndGet();
            whenFlushed.run();
            ctx.flush();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLoneMessageIsOneWriteAndOneFlush(boolean withResult, TestSockets sockets) {
        Writes transport = new Writes();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(transport)));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        settle(push);
        transport.writes.set(0);
        transport.flushes.set(0);

        for (int i = 1; i <= MESSAGES; i++) {
            if (withResult) {
                push.sendAsync(message("m"));
            } else {
                assertThat(push.trySend(message("m"))).isTrue();
            }
            assertThat(receive(pull)).containsExactly("m");
            int sent = i;
            await("it is counted", () -> push.stats().written() == sent);
            settle(push);
        }

        assertThat(transport.writes).hasValue(MESSAGES);
        assertThat(transport.flushes).hasValue(MESSAGES);
    }

    /** What one task writes to many peers, a little to each, does not wait for its end. */
    @Test
    void aPartOfTheBudgetIsFlushedAtOnce() {
        try (TestSockets sockets = new TestSockets(1)) {
            int peers = 40;
            AtomicInteger flushes = new AtomicInteger();
            ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(8 << 20);
            ZMTPSocketConfig.Builder config = sockets.builder(ZMTPSocketType.ROUTER);
            ZMTPSocket router = sockets.open(
                    config.codec(codec -> codec.memoryBudget(budget)).pipelineInitializer((endpoint, pipeline) -> {
                        Writes transport = new Writes(); // it is of one channel
                        transport.whenFlushed = flushes::incrementAndGet;
                        pipeline.addLast(transport);
                    }));
            String endpoint = bind(router, "tcp://127.0.0.1:*");
            for (int i = 0; i < peers; i++) {
                connect(sockets.open(ZMTPSocketType.DEALER), endpoint);
            }
            await("all are there", () -> router.peers().size() == peers);
            settle(router);

            CompletableFuture<Integer> flushed = new CompletableFuture<>();
            sockets.group().execute(() -> {
                flushes.set(0);
                router.peers().forEach(peer -> peer.sendOrDrop(message("k".repeat(30_000))));
                flushed.complete(flushes.get());
            });

            assertThat(TestSockets.get(flushed)).isBetween(30, peers - 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "inproc://written"})
    void whatTheTransportHasNotTakenIsNotCountedAsWritten(String endpoint, TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).pipelineInitializer(gate));
        connect(push, bind(pull, endpoint));
        gate.close();

        assertThat(push.trySend(message("m"))).isTrue();
        settle(push);
        settle(push);

        assertThat(push.stats().written()).isZero();
        gate.open();
        await("it is counted", () -> push.stats().written() == 1);
    }

    /** The result of one fails with the connection; the other has none. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "inproc://unknown"})
    void theFateOfWhatTheConnectionHadAtItsEndIsUnknown(String endpoint, TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).pipelineInitializer(gate));
        String address = bind(pull, endpoint);
        connect(push, address);
        gate.close();
        CompletableFuture<Void> result = push.sendAsync(message("with a result"));
        assertThat(push.trySend(message("without"))).isTrue();
        settle(push);

        TestSockets.get(pull.closeAsync(Duration.ZERO));

        await("both are counted", () -> push.stats().outcomeUnknown() == 2);
        assertThat(result).isCompletedExceptionally();
        ZMTPStats stats = push.stats();
        assertThat(stats.written()).isZero();
        assertThat(stats.dropped()).isZero();
    }
}
