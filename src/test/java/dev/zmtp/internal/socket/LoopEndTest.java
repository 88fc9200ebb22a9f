package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.BlockingOperationException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Event loops that end within a task, without a quiet period. Netty 4.2 does not close their channels then. */
class LoopEndTest {

    /** Number of messages that a handler gets in more tasks than an event loop runs after its end began. */
    private static final int MANY = 20_000;

    @TempDir
    Path dir;

    private final EventLoopGroup group = EventLoops.newGroup(1);
    private final ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 30);

    @AfterEach
    void end() {
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS); // if a test has not reached it
    }

    private ZMTPSocket push() {
        return ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH)
                .group(group)
                .codec(codec -> codec.memoryBudget(budget))
                .build());
    }

    private void endWithinTheNextTask() {
        group.execute(() -> group.shutdownGracefully(0, 0, TimeUnit.SECONDS));
    }

    private void endWithinATask() {
        endWithinTheNextTask();
        assertThat(group.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://*", "shm://*", "inproc://ended-connection"})
    void aPeerSeesTheEndOfTheLoopOfAConnection(String endpoint, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = push();
        connect(push, bind(pull, endpoint));

        endWithinATask();

        await("the peer has left", () -> pull.peers().isEmpty());
        get(push.closeAsync(TestSockets.PATIENCE));
    }

    @Test
    void anAnswerThatAReqHasNotReceivedIsReleased(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        ByteBuf frame = Unpooled.copiedBuffer("answer", StandardCharsets.UTF_8);
        rep.serve(request -> request.reply(ZMTPMessage.from(frame.retain())));
        ZMTPSocket req =
                ZMTPSocket.of(ZMTPSocketConfig.builder(REQ).group(group).build());
        connect(req, bind(rep, "inproc://ended-req"));
        get(req.sendAsync(message("question")));
        await("the answer is there", () -> req.stats().received() == 1);

        endWithinATask();
        get(req.closeFuture());

        assertThat(reason(req.receiveAsync())).isEqualTo(ZMTPSocketException.Reason.CLOSED);
        await("the only reference is that of the test", () -> frame.refCnt() == 1);
        frame.release();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp://127.0.0.1:*", "ipc://%s/socket", "shm://%s/memory", "inproc://ended-listener"})
    void theAddressOfAListenerIsFreeAfterTheEndOfItsLoop(String endpoint, TestSockets sockets) {
        String bound = bind(push(), endpoint.formatted(dir));

        endWithinATask();

        assertThat(bind(sockets.open(PULL), bound)).isEqualTo(bound);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ipc://%s/socket", "shm://%s/memory"})
    void aListenerThatWasClosedJustBeforeTheEndOfItsLoopLeavesNoFile(String endpoint) {
        ZMTPSocket push = push();
        TestSockets.Events events = TestSockets.events(push);
        ZMTPEndpoint binding = get(push.bind(endpoint.formatted(dir)).readyFuture());

        group.execute(() -> {
            binding.close(); // in the next task
            endWithinTheNextTask();
        });

        assertThat(group.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                .isTrue();
        assertThat(dir).isEmptyDirectory();
        events.next(ZMTPSocketEvent.Stopped.class);
        get(push.closeAsync(TestSockets.PATIENCE));
    }

    /** The end of a loop is told on a thread that all loops of the process share. */
    @ParameterizedTest
    @EnumSource
    void aCallbackOfTheEndThatClosesTheSocketHoldsUpNoOther(EndCallback callback) {
        ZMTPSocket dealer =
                ZMTPSocket.of(ZMTPSocketConfig.builder(DEALER).group(group).build());
        EventLoopGroup groupOfOther = EventLoops.newGroup(1);
        ZMTPSocket other =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(groupOfOther).build());
        CompletableFuture<Thread> thread = new CompletableFuture<>();

        callback.add(dealer, () -> {
            thread.complete(Thread.currentThread());
            dealer.close();
        });
        endWithinATask();
        groupOfOther.shutdownGracefully(0, 0, TimeUnit.SECONDS);

        Thread its = get(thread);
        try {
            get(dealer.closeFuture());
            get(other.closeFuture());
        } finally {
            its.interrupt(); // other tests need it
        }
    }

    private enum EndCallback {
        RECEIVE {
            @Override
            void add(ZMTPSocket socket, Runnable action) {
                socket.receiveAsync().whenComplete((message, end) -> action.run());
            }
        },
        REQUEST {
            @Override
            void add(ZMTPSocket socket, Runnable action) {
                socket.connect("inproc://nobody");
                socket.requestAsync(message("question"), TestSockets.PATIENCE)
                        .whenComplete((answer, end) -> action.run());
            }
        },
        PEERS {
            @Override
            void add(ZMTPSocket socket, Runnable action) {
                socket.whenPeers(1).whenComplete((none, end) -> action.run());
            }
        },
        EVENT {
            @Override
            void add(ZMTPSocket socket, Runnable action) {
                bind(socket, "inproc://ends-with-its-loop");
                socket.onEvent(Runnable::run, event -> {
                    if (event instanceof ZMTPSocketEvent.Stopped) {
                        action.run();
                    }
                });
            }
        };

        abstract void add(ZMTPSocket socket, Runnable action);
    }

    @Test
    void aCallbackOfTheEndThatWaitsFails() {
        ZMTPSocket pull =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(group).build());
        CompletableFuture<ZMTPStats> waited =
                pull.receiveAsync().handle((message, end) -> pull.closeFuture().join());

        endWithinATask();

        assertThat(waited)
                .failsWithin(TestSockets.PATIENCE)
                .withThrowableThat()
                .withCauseInstanceOf(BlockingOperationException.class);
    }

    @Test
    void messagesWithTheTransportAreReleasedAndAccountedForAtTheEndOfTheLoop(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL); // does not read while nothing is received and much waits
        ZMTPSocket push = push();
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        String large = "x".repeat(100_000);
        while (push.isWritable()) {
            push.sendOrDrop(message(large));
        }

        endWithinATask();

        ZMTPStats report = get(push.closeAsync(TestSockets.PATIENCE));
        assertThat(report.queued()).isZero();
        assertThat(report.sent()).isEqualTo(report.written() + report.dropped() + report.outcomeUnknown());
        assertThat(budget.used()).isZero();
    }

    @Test
    void theStepsOfALongTaskDoNotKeepChannelsOpen(TestSockets sockets) {
        ZMTPSocket pull = ZMTPSocket.of(ZMTPSocketConfig.builder(PULL)
                .group(group)
                .codec(codec -> codec.memoryBudget(budget))
                .receiveQueueLimit(MANY, 1 << 26)
                .build());
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(MANY, 1 << 26));
        connect(push, bind(pull, "tcp://127.0.0.1:*"));
        for (int i = 0; i < MANY; i++) {
            push.sendOrDrop(message("m"));
        }
        await("all have arrived", () -> pull.stats().received() == MANY);

        pull.onMessage((peer, message) -> {
            message.release();
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        });

        assertThat(group.terminationFuture().awaitUninterruptibly(TestSockets.PATIENCE.toMillis()))
                .isTrue();
        await("the peer has left", () -> push.peers().isEmpty());
        get(pull.closeAsync(TestSockets.PATIENCE));
        assertThat(budget.used()).isZero();
    }

    /** An event loop to which another thread gives a task before and after each pass of its end. */
    private static final class BusyLoop extends DefaultEventLoop {

        private final AtomicInteger wanted = new AtomicInteger();
        private final AtomicInteger given = new AtomicInteger();

        @Override
        protected boolean confirmShutdown() {
            waitForTask();
            boolean done = super.confirmShutdown();
            waitForTask();
            return done;
        }

        private void waitForTask() {
            if (isShuttingDown() && !isShutdown()) {
                int number = wanted.incrementAndGet();
                int there;
                do {
                    there = given.get(); // an event loop of a test must not block, not even with onSpinWait
                } while (there < number);
            }
        }

        /** Runs {@code giver} whenever a task is wanted, until the loop has ended. */
        void giveUntilTheEnd(Runnable giver) {
            while (!isTerminated()) {
                if (given.get() < wanted.get()) {
                    giver.run();
                    given.incrementAndGet();
                }
            }
        }
    }

    @Test
    void messagesOfOtherThreadsDoNotKeepChannelsOpen(TestSockets sockets) {
        BusyLoop loop = new BusyLoop();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH).group(loop).build());
        connect(push, bind(pull, "inproc://busy-sender"));

        loop.execute(() -> loop.shutdownGracefully(0, 0, TimeUnit.SECONDS));
        loop.giveUntilTheEnd(() -> push.sendOrDrop(message("m")));

        await("the peer has left", () -> pull.peers().isEmpty());
        get(push.closeAsync(TestSockets.PATIENCE));
    }

    @Test
    void messagesOfPeersWithinTheProcessDoNotKeepChannelsOpen(TestSockets sockets) {
        BusyLoop loop = new BusyLoop();
        ZMTPSocket pull =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(loop).build());
        pull.onMessage((peer, message) -> message.release());
        ZMTPSocket push = push();
        connect(push, bind(pull, "inproc://busy-receiver"));

        loop.execute(() -> loop.shutdownGracefully(0, 0, TimeUnit.SECONDS));
        loop.giveUntilTheEnd(() -> {
            push.sendOrDrop(message("m"));
            group.submit(() -> {}).syncUninterruptibly(); // then the message is with the peer
        });

        await("the peer has left", () -> push.peers().isEmpty());
        bind(sockets.open(PULL), "inproc://busy-receiver"); // is free
        get(push.closeAsync(Duration.ZERO));
        get(pull.closeAsync(Duration.ZERO));
    }
}
