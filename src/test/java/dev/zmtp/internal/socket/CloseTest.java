package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.OUTCOME_UNKNOWN;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.AskedFiles;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.StoppedPull;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of a socket: it always comes, whatever the peers and the threads do, and it says what became of all. */
@SuppressWarnings("try") // some loops end before their test does
class CloseTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";
    private static final String NOBODY = "tcp://127.0.0.1:1";
    private static final Duration SOON = Duration.ofMillis(50);

    /** T51. */
    @Tag("T51")
    @Test
    void whatIsQueuedForAnAbsentPeerIsReportedAfterTheLinger(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(NOBODY);
        List<ZMTPMessage> sent = new ArrayList<>();
        List<CompletableFuture<Void>> results = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            ZMTPMessage message = message("unsent");
            sent.add(message);
            results.add(push.sendAsync(message));
        }

        ZMTPStats report = get(push.closeAsync(SOON));

        assertThat(report.dropped()).isEqualTo(1_000);
        assertThat(report.outcomeUnknown()).isZero();
        assertThat(results).allSatisfy(result -> assertThat(reason(result)).isEqualTo(CLOSED));
        assertThat(sent).allSatisfy(message -> assertThat(message.refCnt()).isZero());
    }

    @Test
    void aPeerTakesNothingMoreWhileItsSocketLingers(TestSockets sockets) {
        WriteGate gate = new WriteGate();
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).pipelineInitializer(gate));
        String endpoint = bind(router, ANY_PORT);
        connect(sockets.open(DEALER), endpoint);
        ZMTPPeer peer = TestSockets.peer(router);
        gate.close();
        peer.sendOrDrop(WriteGate.big("transport"));
        CompletableFuture<Void> waits = peer.sendAsync(message("waits"));
        CompletableFuture<ZMTPStats> report = router.closeAsync(TestSockets.PATIENCE);

        assertThat(reason(peer.sendAsync(message("late")))).isEqualTo(CLOSED);
        peer.sendOrDrop(message("late"));

        gate.open();
        get(waits);
        assertThat(get(report).dropped()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {ANY_PORT, "ipc://*", "shm://*", "inproc://just-sent"})
    void whatWasSentJustBeforeTheCloseArrives(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, endpoint));

        push.sendOrDrop(message("last words"));
        ZMTPStats report = get(push.closeAsync(TestSockets.PATIENCE));

        assertThat(report.outcomeUnknown() + report.dropped()).isZero();
        assertThat(receive(pull)).containsExactly("last words");
    }

    /** More than a task takes. */
    private static final int MANY = 2_500;

    private ZMTPSocket sentMany(String endpoint, ZMTPSocket pull, TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(MANY, 1 << 20));
        connect(push, bind(pull, endpoint));
        CountDownLatch held = TestSockets.hold(push);
        for (int i = 0; i < MANY; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }
        held.countDown();
        return push;
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*"})
    void manyMessagesSentJustBeforeACloseWithoutLingerArrive(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(MANY, 1 << 20));
        ZMTPSocket push = sentMany(endpoint, pull, sockets);

        ZMTPStats report = get(push.closeAsync(Duration.ZERO));

        assertThat(report.dropped()).isZero();
        await("all", () -> pull.stats().received() == MANY);
    }

    @Test
    void manyMessagesSentJustBeforeACloseArriveIfTheEventLoopEndsAsWell(TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).receiveQueueLimit(MANY, 1 << 20));
        ZMTPSocket push = ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH)
                .group(group)
                .sendQueueLimit(MANY, 1 << 20)
                .build());
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        CountDownLatch held = TestSockets.hold(push);
        for (int i = 0; i < MANY; i++) {
            assertThat(push.trySend(message("m" + i))).isTrue();
        }

        CompletableFuture<ZMTPStats> closed = push.closeAsync(TestSockets.PATIENCE);
        push.eventLoop().execute(() -> group.shutdownGracefully(0, 0, TimeUnit.SECONDS));
        held.countDown();

        get(closed);
        await("all", () -> pull.stats().received() == MANY);
    }

    @Test
    void whatWasSentJustBeforeItsConnectorClosesArrives(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPEndpoint connector = push.connect(bind(pull, ANY_PORT));
        get(connector.readyFuture());

        CompletableFuture<Void> sent = push.sendAsync(message("last words"));
        get(TestSockets.disconnect(connector));

        get(sent);
        assertThat(receive(pull)).containsExactly("last words");
    }

    @Test
    void theConnectionHasEndedWhenItsConnectorIsClosed(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPEndpoint connector = push.connect(bind(pull, ANY_PORT));
        get(connector.readyFuture());

        get(TestSockets.disconnect(connector));

        assertThat(connector.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(TestSockets.isUp(TestSockets.peerOf(connector))).isFalse();
        assertThat(push.peers()).isEmpty();
    }

    @Test
    void aPeerIsThereWhenItsConnectorSaysSo(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);

        boolean isUp = get(push.connect(bind(pull, ANY_PORT))
                .readyFuture()
                .thenApply(up -> TestSockets.isUp(TestSockets.peerOf(up))));

        assertThat(isUp).isTrue();
    }

    @Test
    void aConnectorThatIsClosedInAnyStateEnds(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPEndpoint idle = push.connect("tcp://127.0.0.1:2");
        get(TestSockets.disconnect(idle));

        ZMTPEndpoint waiting = push.connect(NOBODY);
        await("waiting", () -> waiting.state() == ZMTPEndpoint.State.RETRYING);
        get(TestSockets.disconnect(waiting));
        get(TestSockets.disconnect(waiting));
        waiting.retryNow();

        assertThat(reason(idle.readyFuture())).isEqualTo(CLOSED);
        assertThat(reason(waiting.readyFuture())).isEqualTo(CLOSED);
        assertThat(push.peers()).isEmpty();
        assertThat(push.connect(NOBODY)).as("a new one").isNotSameAs(waiting);
    }

    @Test
    void aConnectorThatIsClosedDuringTheHandshakeEnds() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);
            ZMTPEndpoint connector = push.connect("tcp://127.0.0.1:" + silent.getLocalPort());
            try (Socket accepted = silent.accept()) {
                await("shaking hands", () -> connector.state() == ZMTPEndpoint.State.HANDSHAKING);

                get(TestSockets.disconnect(connector));

                accepted.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
                accepted.getInputStream().readAllBytes(); // up to the end
            }
        }
    }

    @Test
    void strangersWhoSayNothingAreSentAway(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, ANY_PORT);
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
            stranger.setSoTimeout(5_000);
            stranger.getInputStream().skipNBytes(10); // our greeting: the connection was accepted

            get(pull.closeAsync(Duration.ZERO));

            stranger.getInputStream().readAllBytes(); // up to the end
        }
    }

    @Test
    void aBindEndsWithItsSocketBeItThatItsNameIsLookedUpForEver(TestSockets sockets) {
        List<Runnable> lookedUp = new ArrayList<>();
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).resolverExecutor(lookedUp::add));
        CompletableFuture<ZMTPEndpoint> bound = pull.bind("tcp://localhost:*").readyFuture();
        ZMTPEndpoint connector = sockets.open(sockets.builder(PUSH).resolverExecutor(lookedUp::add))
                .connect("tcp://localhost:1");

        get(pull.closeAsync(Duration.ZERO));

        assertThat(reason(bound)).isEqualTo(CLOSED);
        get(TestSockets.disconnect(connector));
        lookedUp.forEach(Runnable::run); // too late
    }

    @Test
    void aFileThatIsBoundTooLateIsRemoved(@TempDir Path dir) throws IOException {
        Queue<Runnable> lookedUp = new ConcurrentLinkedQueue<>();
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket pull = sockets.open(
                    ClockedSockets.with(sockets.builder(PULL), new AskedFiles()).resolverExecutor(lookedUp::add));
            CompletableFuture<ZMTPEndpoint> bound =
                    pull.bind("asked://" + dir.resolve("late")).readyFuture();
            await("looked up", () -> !lookedUp.isEmpty());
            lookedUp.remove().run();
            CompletableFuture<ZMTPStats> closed = pull.closeAsync(Duration.ZERO);

            get(closed);
            bound.handle((binding, failure) -> null).join();
        }
        try (Stream<Path> left = Files.list(dir)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void afterTheEndEachCallFails(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        get(dealer.closeAsync(Duration.ZERO));
        ZMTPMessage refused = message("refused");

        assertThatThrownBy(() -> dealer.connect(NOBODY)).hasMessage("CLOSED: the socket is closed");
        assertThatThrownBy(() -> dealer.bind(ANY_PORT)).hasMessage("CLOSED: the socket is closed");
        assertThatThrownBy(() -> dealer.onMessage((peer, message) -> message.release()))
                .hasMessage("CLOSED: the socket is closed");
        assertThat(reason(dealer.sendAsync(message("late")))).isEqualTo(CLOSED);
        assertThat(reason(dealer.receiveAsync())).isEqualTo(CLOSED);
        assertThat(reason(dealer.requestAsync(message("late"), SOON))).isEqualTo(CLOSED);
        assertThat(dealer.trySend(refused)).isFalse();
        assertThat(refused.refCnt()).isEqualTo(1);
        refused.release();
        assertThat(dealer.isWritable()).isFalse();
        ZMTPSocket sub = sockets.open(SUB);
        sub.close();
        assertThatThrownBy(() -> sub.subscribe("late")).hasMessage("CLOSED: the socket is closed");
    }

    @Test
    void aSecondCloseHasTheSameReport(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(NOBODY);
        CompletableFuture<Void> unsent = push.sendAsync(message("unsent"));

        CompletableFuture<ZMTPStats> first = push.closeAsync(Duration.ZERO);
        CompletableFuture<ZMTPStats> second = push.closeAsync(Duration.ofDays(1));

        assertThat(get(second)).isEqualTo(get(first));
        assertThat(get(push.closeAsync(Duration.ZERO))).isEqualTo(get(first));
        assertThat(reason(unsent)).isEqualTo(CLOSED);
        assertThat(get(first).dropped()).isLessThanOrEqualTo(1); // none if it was still in line
    }

    @Test
    void itMayBeClosedFromItsHandler(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        CompletableFuture<ZMTPStats> closed = new CompletableFuture<>();
        pull.onMessage((peer, message) -> {
            message.release();
            pull.closeAsync(Duration.ZERO).thenAccept(closed::complete);
        });
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, ANY_PORT));

        push.sendOrDrop(message("end"));

        assertThat(get(closed).dropped() + get(closed).outcomeUnknown()).isZero();
    }

    /** T52. */
    @Tag("T52")
    @ParameterizedTest
    @ValueSource(strings = {ANY_PORT, "inproc://eight"})
    void eachSendOfEightThreadsCompletesWhateverTheCloseDoes(String endpoint, TestSockets sockets)
            throws InterruptedException {
        ZMTPSocket pull = sockets.open(PULL);
        pull.onMessage((peer, message) -> message.release());
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, bind(pull, endpoint));
        Queue<CompletableFuture<Void>> results = new ConcurrentLinkedQueue<>();
        CountDownLatch going = new CountDownLatch(8);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread sender = new Thread(() -> {
                for (int sent = 0; push.socketType() == PUSH; sent++) {
                    CompletableFuture<Void> result = push.sendAsync(message("m"));
                    results.add(result);
                    if (sent == 10) {
                        going.countDown();
                    }
                    if (sent > 10 && result.isCompletedExceptionally() && isClosed(result)) {
                        return;
                    }
                    Thread.onSpinWait();
                }
            });
            threads.add(sender);
            sender.start();
        }
        going.await();

        sockets.group().next().execute(push::close);
        CompletableFuture<ZMTPStats> closed = push.closeAsync(Duration.ofSeconds(5));

        get(closed);
        for (Thread thread : threads) {
            thread.join();
        }
        for (CompletableFuture<Void> result : results) {
            get(result.handle((done, failure) -> true));
        }
    }

    private static boolean isClosed(CompletableFuture<Void> result) {
        return TestSockets.failure(result) instanceof ZMTPSocketException e && e.reason() == CLOSED;
    }

    /** T57. */
    @Tag("T57")
    @Test
    void allFuturesCompleteIfTheEventLoopsEndUnderTheSocket(TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        try (EventLoops loops = new EventLoops(group)) {
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPSocket dealer =
                    ZMTPSocket.of(ZMTPSocketConfig.builder(DEALER).group(group).build());
            connect(dealer, bind(router, ANY_PORT));
            CompletableFuture<ZMTPMessage> received = dealer.receiveAsync();
            CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message("?"), TestSockets.PATIENCE);
            receive(router);

            group.shutdownGracefully(10, 30_000, TimeUnit.MILLISECONDS).syncUninterruptibly();

            assertThat(reason(received)).isEqualTo(CLOSED);
            TestSockets.failure(asked);
            get(dealer.closeAsync(TestSockets.PATIENCE));
            assertThat(reason(dealer.sendAsync(message("late")))).isEqualTo(CLOSED);
            assertThatThrownBy(() -> dealer.bind(ANY_PORT)).hasMessage("CLOSED: the socket is closed");
            await("the router has seen it", () -> router.peers().isEmpty());
        }
    }

    /** Netty may not call the listener of a promise when its event loop ends. */
    @Test
    void aMessageWhoseFateTheTransportNeverTellsIsUnknownIfTheEventLoopEnds(TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        try (EventLoops loops = new EventLoops(group)) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push = ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH)
                    .group(group)
                    .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new Silent()))
                    .build());
            connect(push, bind(pull, ANY_PORT));
            CompletableFuture<Void> sent = push.sendAsync(message("kept"));
            assertThat(receive(pull)).containsExactly("kept");

            group.shutdownGracefully(0, 30_000, TimeUnit.MILLISECONDS).syncUninterruptibly();

            assertThat(reason(sent)).isEqualTo(OUTCOME_UNKNOWN);
            ZMTPStats stats = get(push.closeAsync(TestSockets.PATIENCE));
            assertThat(stats.outcomeUnknown()).isEqualTo(1);
        }
    }

    /** Passes on what is written with another promise than the one it was given, which nobody completes. */
    private static final class Silent extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            ctx.write(message);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void itEndsIfItsEventLoopEndsInTheSameMoment(int round, TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        try (EventLoops loops = new EventLoops(group)) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push =
                    ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH).group(group).build());
            connect(push, bind(pull, ANY_PORT));

            CompletableFuture<ZMTPStats> closed = push.closeAsync(Duration.ZERO);
            if (round % 2 == 0) {
                group.next().submit(() -> {}).syncUninterruptibly(); // the close has begun
            }
            loops.close();

            get(closed);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REQ", "PUSH"})
    void oneWhoseEventLoopHasEndedTakesNothing(ZMTPSocketType type) {
        EventLoopGroup group = EventLoops.newGroup(1);
        ZMTPSocket socket =
                ZMTPSocket.of(ZMTPSocketConfig.builder(type).group(group).build());
        new EventLoops(group).close();
        ZMTPMessage message = message("late");

        assertThat(reason(socket.sendAsync(message))).isEqualTo(CLOSED);

        assertThat(message.refCnt()).isZero();
        assertThat(socket.stats().dropped()).isEqualTo(1);
    }

    @Test
    void theAnswerIsReleasedWhoseEventLoopHasEnded(TestSockets sockets) {
        EventLoopGroup group = EventLoops.newGroup(1);
        try (EventLoops loops = new EventLoops(group)) {
            ZMTPSocket rep =
                    ZMTPSocket.of(ZMTPSocketConfig.builder(REP).group(group).build());
            CompletableFuture<ZMTPRequest> asked = new CompletableFuture<>();
            rep.serve(asked::complete);
            ZMTPSocket req = sockets.open(REQ);
            connect(req, bind(rep, ANY_PORT));
            get(req.sendAsync(message("question")));
            ZMTPRequest request = get(asked);
            loops.close();
            ZMTPMessage answer = message("late");

            assertThat(request.reply(answer)).isFalse();

            await("it is released", () -> answer.refCnt() == 0);
        }
    }

    @Test
    void aBindWhoseEventLoopHasEndedFails() {
        EventLoopGroup group = EventLoops.newGroup(1);
        ZMTPSocket pull =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(group).build());
        new EventLoops(group).close();
        CompletableFuture<ZMTPEndpoint> bound = bindOrFail(pull);

        assertThat(reason(bound)).isEqualTo(CLOSED);
        get(pull.closeAsync(Duration.ZERO));
    }

    /** The end of the loop is known a moment later: until then the call itself does not fail. */
    private static CompletableFuture<ZMTPEndpoint> bindOrFail(ZMTPSocket socket) {
        try {
            return socket.bind(ANY_PORT).readyFuture();
        } catch (ZMTPSocketException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @Test
    void aPeerThatDoesNotReadHoldsUpTheEndNoLongerThanTheLinger() throws IOException {
        try (StoppedPull stopped = new StoppedPull();
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);
            push.connect(stopped.endpoint());
            try (Socket accepted = stopped.accept()) {
                ZMTPPeer peer = TestSockets.peer(push);
                String body = "x".repeat(100_000);
                int sent = 0;
                ZMTPMessage next = message(body);
                while (push.trySend(next)) { // what the kernel and the queue take
                    sent++;
                    next = message(body);
                }
                next.release();

                ZMTPStats report = get(push.closeAsync(SOON));

                assertThat(report.dropped()).isPositive();
                assertThat(report.outcomeUnknown())
                        .isPositive()
                        .isEqualTo(peer.stats().outcomeUnknown());
                assertThat(peer.stats().written() + report.outcomeUnknown() + report.dropped())
                        .isEqualTo(sent);
            }
        }
    }

    @Test
    void whatIsQueuedForAnAcceptedPeerIsReportedAtTheEnd(TestSockets sockets) throws IOException {
        ZMTPSocket router = sockets.open(
                sockets.builder(ROUTER).option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2)));
        String endpoint = bind(router, "inproc://accepted");
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPPeer seen = connect(dealer, endpoint);
        seen.pauseReading();
        dealer.sendOrDrop(message("hello"));
        CompletableFuture<ZMTPPeer> written = new CompletableFuture<>();
        router.onMessage((from, message) -> {
            message.release();
            for (int i = 0; i < 2_000; i++) { // more than the connection holds
                from.sendOrDrop(message("unread"));
            }
            written.complete(from);
        });
        get(written);

        ZMTPStats report = get(router.closeAsync(SOON));

        assertThat(report.dropped()).isPositive();
    }

    /** T58, with no more bytes than the kernel's buffers may hold. */
    @Tag("T58")
    @Test
    void whatWasReportedAsWrittenArrivesAtAPeerThatLingers() throws IOException {
        try (StoppedPull slow = new StoppedPull();
                TestSockets sockets = new TestSockets()) {
            ZMTPSocket push = sockets.open(PUSH);
            push.connect(slow.endpoint());
            CompletableFuture<ZMTPStats> closed;
            long arrived = 0;
            List<CompletableFuture<Void>> results = new ArrayList<>();
            try (Socket accepted = slow.accept()) {
                String body = "x".repeat(200);
                for (int i = 0; i < 900; i++) {
                    results.add(push.sendAsync(message(body)));
                }
                closed = push.closeAsync(TestSockets.PATIENCE);
                while (accepted.getInputStream().read() >= 0) {
                    byte[] frame = new byte[accepted.getInputStream().read()];
                    assertThat(accepted.getInputStream().readNBytes(frame, 0, frame.length))
                            .isEqualTo(frame.length);
                    assertThat(new String(frame, StandardCharsets.UTF_8)).isEqualTo(body);
                    arrived++;
                }
            }

            get(closed);
            long written = results.stream()
                    .filter(result -> !result.isCompletedExceptionally())
                    .count();
            assertThat(arrived).isGreaterThanOrEqualTo(written);
        }
    }

    /** The application must not do that, and the socket ends all the same. */
    @Test
    void aQueuedMessageThatTheApplicationHasReleasedDoesNotStopTheClose(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(NOBODY);
        ZMTPMessage released = message("released");
        push.sendAsync(released);
        CompletableFuture<Void> other = push.sendAsync(message("other"));
        TestSockets.settle(push);
        released.release();

        get(push.closeAsync(Duration.ZERO));

        assertThat(reason(other)).isEqualTo(CLOSED);
    }

    @Test
    void aQueuedRequestThatTheApplicationHasReleasedDoesNotStopTheClose(TestSockets sockets) {
        ZMTPSocket req = sockets.open(ZMTPSocketType.REQ);
        req.connect(NOBODY);
        ZMTPMessage released = message("released");
        CompletableFuture<Void> sent = req.sendAsync(released);
        TestSockets.settle(req);
        released.release();

        get(req.closeAsync(Duration.ZERO));

        assertThat(sent).isCompletedExceptionally();
    }
}
