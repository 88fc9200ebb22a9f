package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
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
        try (ZMTPSocket push = ZMTPSocket.of(PUSH)) {
            push.onEvent(listener, event -> report(event, System.out::println));
            ZMTPEndpoint endpoint = push.connect("tcp://127.0.0.1:1");
            giveUpAfter(3, push, endpoint, text -> {
                System.out.println(text);
                over.countDown();
            });
            over.await();
        } finally {
            listener.shutdown();
        }
    }

    /** Closes the endpoint after so many failures in a row. */
    static void giveUpAfter(int attempts, ZMTPSocket socket, ZMTPEndpoint endpoint, Consumer<String> log) {
        socket.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.Retrying retry
                    && retry.endpoint().equals(endpoint.text())
                    && retry.attempt() == attempts) {
                endpoint.close();
                log.accept("gave up: " + retry.endpoint());
            }
        });
    }

    /** On the listener's executor: it may wait for a file or a network. */
    static void report(ZMTPSocketEvent event, Consumer<String> log) {
        if (event instanceof ZMTPSocketEvent.PeerUp up) {
            log.accept("up: " + up.peer());
        } else if (event instanceof ZMTPSocketEvent.PeerDown down) {
            log.accept("down: " + down.peer() + ", " + down.cause());
        } else if (event instanceof ZMTPSocketEvent.Retrying retry) {
            log.accept(
                    "attempt " + retry.attempt() + " failed: " + retry.cause().getMessage());
        } else if (event instanceof ZMTPSocketEvent.SlowPeer slow) {
            log.accept("slow: " + slow.peer() + ", the oldest waits for " + slow.oldestAge());
        }
    }
}
