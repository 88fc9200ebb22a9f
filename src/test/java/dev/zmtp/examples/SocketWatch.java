package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.socket.ZMTPReconnect;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** What happens to a socket's connections, and when it gives one up. */
public final class SocketWatch {

    private SocketWatch() {}

    /** Tries to reach a server that is not there, three times. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH socket to 127.0.0.1:1, where nobody listens, gives up after three attempts."
                + " Nothing to run beside it.");
        ExecutorService listener = Executors.newSingleThreadExecutor();
        CountDownLatch over = new CountDownLatch(1);
        try (ZMTPSocket push = ZMTPSocket.of(givesUpAfter(3))) {
            push.onEvent(listener, event -> {
                report(event, System.out::println);
                if (event instanceof ZMTPSocketEvent.Stopped) {
                    over.countDown();
                }
            });
            push.connect("tcp://127.0.0.1:1");
            over.await();
        } finally {
            listener.shutdown();
        }
    }

    /** The listener returns how long to wait, or null to give up. */
    static ZMTPSocketConfig givesUpAfter(int attempts) {
        return ZMTPSocketConfig.builder(PUSH)
                .reconnect(
                        ZMTPReconnect.exponential(Duration.ofMillis(10), Duration.ofSeconds(1), Duration.ofSeconds(10))
                                .withListener((failure, wait) -> failure.attempt() < attempts ? wait : null))
                .build();
    }

    /** On the listener's executor: it may wait for a file or a network. */
    static void report(ZMTPSocketEvent event, Consumer<String> log) {
        if (event instanceof ZMTPSocketEvent.PeerUp up) {
            log.accept("up: " + up.peer());
        } else if (event instanceof ZMTPSocketEvent.PeerDown down) {
            log.accept("down: " + down.peer() + ", " + down.cause());
        } else if (event instanceof ZMTPSocketEvent.RetryScheduled retry) {
            log.accept(
                    "attempt " + retry.attempt() + " failed: " + retry.cause().getMessage());
        } else if (event instanceof ZMTPSocketEvent.Stopped stopped) {
            log.accept("gave up: " + stopped.endpoint());
        } else if (event instanceof ZMTPSocketEvent.SlowPeer slow) {
            log.accept("slow: " + slow.peer() + ", the oldest waits for " + slow.oldest());
        }
    }
}
