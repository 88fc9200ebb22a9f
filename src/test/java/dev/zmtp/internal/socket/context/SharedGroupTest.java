package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.BlockingOperationException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Event loops that sockets share which were given none. */
class SharedGroupTest {

    private static boolean noThreadIsLeft() {
        return Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("zmtp-socket"));
    }

    @Test
    void noThreadIsLeftAfterTheLastClose() {
        ZMTPSocket pull = ZMTPSocket.of(PULL);
        ZMTPSocket push = ZMTPSocket.of(PUSH);
        push.connect(bind(pull, "tcp://127.0.0.1:*"));
        get(push.sendAsync(message("m")));
        assertThat(receive(pull)).containsExactly("m");

        get(push.closeAsync(Duration.ZERO));
        assertThat(noThreadIsLeft()).as("while another is open").isFalse();
        pull.close();
        pull.close();
        get(pull.closeAsync(Duration.ZERO));

        await("all threads have ended", SharedGroupTest::noThreadIsLeft);
    }

    @Test
    void whoWaitsForTheEndFindsNoThread() {
        List<ZMTPSocket> before = new ArrayList<>();
        for (int round = 0; round < 10; round++) {
            ZMTPSocket pull = ZMTPSocket.of(PULL);
            ZMTPSocket push = ZMTPSocket.of(PUSH);
            push.connect(bind(pull, "tcp://127.0.0.1:*"));
            get(push.sendAsync(message("m")));
            CompletableFuture<Void> ended = ZMTPSocketConfig.sharedGroupTerminationFuture();
            get(push.closeAsync(Duration.ZERO));
            assertThat(ended).as("while one is open").isNotDone();

            get(pull.closeAsync(Duration.ZERO));
            get(ZMTPSocketConfig.sharedGroupTerminationFuture());

            assertThat(noThreadIsLeft()).isTrue();
            get(ended);
            assertThat(before).noneMatch(socket -> socket.eventLoop() == pull.eventLoop());
            before.add(pull);
        }
    }

    @Test
    void withoutSocketsNobodyHasToWait() {
        get(ZMTPSocketConfig.sharedGroupTerminationFuture());

        assertThat(ZMTPSocketConfig.sharedGroupTerminationFuture()).isCompleted();
    }

    @Test
    void itIsNotWaitedForOnAnEventLoop() {
        ZMTPSocket pull = ZMTPSocket.of(PULL);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        pull.eventLoop()
                .execute(() -> thrown.complete(catchThrowable(
                        () -> ZMTPSocketConfig.sharedGroupTerminationFuture().join())));

        assertThat(get(thrown)).isInstanceOf(BlockingOperationException.class);
        get(pull.closeAsync(Duration.ZERO));
    }

    @Test
    void theNextSocketHasLoopsOfItsOwn() {
        for (int i = 0; i < 20; i++) {
            ZMTPSocket pull = ZMTPSocket.of(PULL);
            ZMTPSocket push = ZMTPSocket.of(PUSH);
            push.connect(bind(pull, "inproc://next"));
            get(push.sendAsync(message("m")));
            assertThat(receive(pull)).containsExactly("m");
            get(pull.closeAsync(Duration.ZERO));
            push.closeAsync(Duration.ZERO); // the next one opens while this one ends
        }
        await("all threads have ended", SharedGroupTest::noThreadIsLeft);
    }

    @Test
    void theGroupIsOneUntilNobodyUsesIt() throws InterruptedException {
        EventLoopGroup first = SharedGroup.acquire();
        EventLoopGroup second = SharedGroup.acquire();
        SharedGroup.release();
        assertThat(second).isSameAs(first);
        assertThat(first.isShuttingDown()).isFalse();

        SharedGroup.release();

        await("nobody has used it for a while", first::isShuttingDown);
        EventLoopGroup third = SharedGroup.acquire();
        assertThat(third).isNotSameAs(first);
        SharedGroup.release();
        for (EventLoopGroup group : List.of(first, third)) {
            assertThat(group.terminationFuture().await(TestSockets.PATIENCE.toMillis()))
                    .isTrue();
        }
    }

    /** Each group has two threads and selectors for each processor. */
    @Test
    void oneSocketAfterTheOtherHasTheSameGroup() {
        Set<EventLoopGroup> groups = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            ZMTPSocket socket = ZMTPSocket.of(PULL);
            groups.add(socket.eventLoop().parent());
            get(socket.closeAsync(Duration.ZERO));
        }

        assertThat(groups).as("with room for pauses of the process").hasSizeLessThan(10);
    }

    @Test
    void aGroupThatSomebodyHasShutDownIsNotUsedAgain() {
        EventLoopGroup first = SharedGroup.acquire();
        first.shutdownGracefully(0, 0, TimeUnit.MILLISECONDS);

        assertThat(SharedGroup.acquire()).isNotSameAs(first);
        SharedGroup.release();
        SharedGroup.release();
        get(ZMTPSocketConfig.sharedGroupTerminationFuture());
    }

    @Test
    void threadsThatOpenAndCloseAtTheSameTimeLeaveNone() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                for (int round = 0; round < 25; round++) {
                    ZMTPSocket socket = ZMTPSocket.of(PULL);
                    bind(socket, "tcp://127.0.0.1:*");
                    get(socket.closeAsync(Duration.ZERO));
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        await("all threads have ended", SharedGroupTest::noThreadIsLeft);
    }
}
