package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.StoppedPull;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** T75: what was sent was written, waits, was dropped, or its fate is unknown. Nothing else, and nothing twice. */
@Tag("T75")
@SuppressWarnings("try") // a connection is open, and not read
class AccountingTest {

    private static final String BODY = "x".repeat(10_000);

    private static long accounted(ZMTPStats stats) {
        return stats.written() + stats.queued() + stats.dropped() + stats.outcomeUnknown();
    }

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"WAIT", "DROP_NEW"})
    void theSumHoldsForAPeerThatDoesNotReadAndThenEnds(OverflowPolicy policy) throws IOException {
        try (StoppedPull stopped = new StoppedPull();
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(sockets.builder(PUSH)
                    .overflowPolicy(policy)
                    .reconnectDelay(Duration.ZERO, Duration.ZERO)
                    .sendQueueLimit(10, 16 << 20));
            ZMTPEndpoint connector = push.connect(stopped.endpoint());
            long sent = 0;
            try (Socket accepted = stopped.accept()) {
                ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
                for (int i = 0; i < 2_000; i++) {
                    ZMTPMessage message = message(BODY);
                    if (push.trySend(message)) {
                        sent++;
                    } else {
                        message.release();
                    }
                }
                long all = sent;
                await("each has a place", () -> accounted(peer.stats()) <= all);
            }
            long all = sent;
            ZMTPPeer peer = TestSockets.peerOf(connector);
            await("the connection has ended", () -> !TestSockets.isUp(peer));
            await("nothing is queued any more", () -> peer.stats().queued() == 0);
            await("all are accounted for, " + all, () -> accounted(push.stats()) == all);
            ZMTPStats atTheEnd = get(push.closeAsync(Duration.ZERO));
            assertThat(accounted(atTheEnd)).isEqualTo(atTheEnd.sent());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "inproc://counted"})
    void theSumHoldsForAPeerThatReadsAll(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPPeer peer = connect(push, bind(pull, endpoint));
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            sent.add(push.sendAsync(message("m")));
        }

        sent.forEach(TestSockets::get);

        await("all are written", () -> peer.stats().written() == 500);
        assertThat(accounted(peer.stats())).isEqualTo(500);
        ZMTPPeer other = TestSockets.peer(pull);
        await("all have arrived", () -> other.stats().received() == 500);
    }

    /** The greeting, READY with the type of the socket, and 500 frames of a byte each. */
    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "ws://127.0.0.1:*/counted"})
    void bothEndsCountTheBytesOfAConnection(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPPeer peer = connect(push, bind(pull, endpoint));
        for (int i = 0; i < 500; i++) {
            push.sendOrDrop(message("m"));
        }
        long greetingAndReady = 64 + 2 + 26;

        await("all bytes are sent", () -> peer.stats().writtenBytes() == greetingAndReady + 500 * 3);
        await("all bytes have arrived", () -> pull.stats().receivedBytes() == greetingAndReady + 500 * 3);
        assertThat(pull.stats().writtenBytes()).isEqualTo(greetingAndReady);
        assertThat(push.stats().receivedBytes()).isEqualTo(greetingAndReady);
    }

    @Test
    void theBytesOfAPeerThatDoesNotReadAreNotCounted() throws IOException {
        try (StoppedPull stopped = new StoppedPull();
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);
            ZMTPEndpoint connector = push.connect(stopped.endpoint());
            try (Socket accepted = stopped.accept()) {
                get(connector.readyFuture());
                for (int i = 0; i < 100; i++) {
                    push.sendOrDrop(message("x".repeat(1 << 20)));
                }

                await("the transport is full", () -> !push.isWritable());
                assertThat(push.stats().writtenBytes()).isLessThan(100 << 20);
            }
        }
    }

    @Test
    void bytesThatWaitAtTheEndOfTheConnectionAreNotCounted() throws IOException {
        try (StoppedPull stopped = new StoppedPull();
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push =
                    sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMinutes(1), Duration.ofMinutes(1)));
            ZMTPEndpoint connector = push.connect(stopped.endpoint());
            try (Socket accepted = stopped.accept()) {
                ZMTPPeer peer = TestSockets.peerOf(get(connector.readyFuture()));
                long[] sent = {-1, -1, -1, -1};
                for (int i = 0; i < 20; i++) {
                    push.sendAsync(message("x".repeat(1 << 20)));
                }
                await("the transport is full", () -> {
                    System.arraycopy(sent, 0, sent, 1, sent.length - 1);
                    sent[0] = peer.stats().writtenBytes();
                    return sent[0] > 100 && sent[0] == sent[sent.length - 1];
                });

                accepted.shutdownOutput();

                await("the peer has left", () -> !TestSockets.isUp(peer));
                assertThat(peer.stats().writtenBytes()).isEqualTo(sent[0]);
            }
        }
    }

    @Test
    void bytesWithinAProcessAreNotCounted(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPPeer peer = connect(push, bind(pull, "inproc://uncounted"));
        get(push.sendAsync(message("m")));

        assertThat(peer.stats().written()).isEqualTo(1);
        assertThat(peer.stats().writtenBytes()).isZero();
    }

    /** As shared memory does whose other side has gone: what is to be read is still there. */
    @Test
    void aWriteThatTheTransportFailsIsUnknownThoughTheChannelIsOpen(TestSockets sockets) {
        AtomicBoolean broken = new AtomicBoolean();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(
                sockets.builder(PUSH).pipelineInitializer((endpoint, pipeline) -> pipeline.addFirst(failing(broken))));
        ZMTPPeer peer = connect(push, bind(pull, "tcp://127.0.0.1:*"));
        broken.set(true);

        CompletableFuture<Void> result = push.sendAsync(message("m"));

        assertThatThrownBy(result::join)
                .cause()
                .isInstanceOf(ZMTPSocketException.class)
                .hasMessageStartingWith("OUTCOME_UNKNOWN");
        assertThat(peer.stats().outcomeUnknown()).isOne();
        assertThat(peer.stats().dropped()).isZero();
    }

    private static ChannelOutboundHandlerAdapter failing(AtomicBoolean broken) {
        return new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (broken.get()) {
                    ReferenceCountUtil.release(msg);
                    promise.tryFailure(new IOException("gone"));
                } else {
                    ctx.write(msg, promise);
                }
            }
        };
    }

    @Test
    void theSumHoldsOverManyDisconnects(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        ZMTPSocket push =
                sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
        ZMTPPeer peer = connect(push, bind(pull, "tcp://127.0.0.1:*"));
        List<CompletableFuture<Void>> results = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            results.add(push.sendAsync(message(BODY)));
            if (i % 100 == 50) {
                peer.close();
            }
            if (i % 100 == 99) { // or all of them wait in line at once
                results.get(i).handle((done, failure) -> true).join();
            }
        }

        long mute = 0;
        for (CompletableFuture<Void> result : results) {
            get(result.handle((done, failure) -> true));
            if (result.isCompletedExceptionally() && TestSockets.reason(result) == ZMTPSocketException.Reason.FULL) {
                mute++;
            }
        }

        long sent = results.size() - mute;
        await("all are accounted for, " + sent, () -> accounted(peer.stats()) == sent);
        long written = results.stream()
                .filter(result -> !result.isCompletedExceptionally())
                .count();
        assertThat(peer.stats().written()).as("of the others nobody knows").isLessThanOrEqualTo(written);
    }

    @Test
    void aPublisherCountsForEachSubscriber(TestSockets sockets) throws IOException {
        ZMTPSocket pub = sockets.open(sockets.builder(PUB)
                .sendQueueLimit(5, 1 << 20)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2)));
        String endpoint = bind(pub, "inproc://published");
        ZMTPSocket slow = sockets.open(SUB);
        slow.subscribe("");
        ZMTPPeer unread = connect(slow, endpoint);
        get(pub.whenPeers(1));
        ZMTPPeer peer = TestSockets.peer(pub);
        unread.pauseReading();

        for (int i = 0; i < 3_000; i++) {
            pub.sendOrDrop(message("m"));
        }

        unread.resumeReading(); // what is with the transport of a full connection is not yet written or lost
        await("all are accounted for", () -> accounted(pub.stats()) == 3_000);
        get(pub.closeAsync(Duration.ZERO));
        assertThat(accounted(pub.stats())).isEqualTo(3_000);
        assertThat(accounted(peer.stats())).isEqualTo(peer.stats().sent());
    }
}
