package dev.zmtp.soak;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPReceived;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Receives the messages of a socket until it is closed, in one of the ways there are. */
final class SocketReceiver {

    private static final Duration WAIT = Duration.ofMillis(20);

    private final ZMTPSocket socket;
    private final SocketTally tally;
    private final List<Thread> threads = new ArrayList<>();

    SocketReceiver(ZMTPSocket socket, SocketTally tally, Random random) {
        this.socket = socket;
        this.tally = tally;
        switch (random.nextInt(4)) {
            case 0 -> start(random, this::receiveFrom);
            case 1 -> {
                start(random, this::receive);
                start(random, this::receive);
            }
            case 2 -> start(random, this::receiveOrCancel);
            default -> socket.onMessage(tally::got);
        }
    }

    private interface Receive {
        void next(Random random) throws InterruptedException, ExecutionException;
    }

    private void start(Random seeds, Receive receive) {
        Random random = new Random(seeds.nextLong());
        Thread thread = new Thread(() -> receiveAll(random, receive), WatchedLoops.THREADS + "receiver");
        threads.add(thread);
        thread.start();
    }

    private static void receiveAll(Random random, Receive receive) {
        while (true) {
            if (random.nextInt(100) == 0) {
                Thread.currentThread().interrupt();
            }
            try {
                receive.next(random);
            } catch (InterruptedException e) {
                Thread.interrupted(); // which has cost no message
            } catch (ExecutionException | ZMTPSocketException e) {
                return; // it is closed
            }
        }
    }

    private void receiveFrom(Random random) throws InterruptedException {
        ZMTPReceived received = socket.receiveFrom(WAIT);
        if (received != null) {
            tally.got(received.peer(), received.message());
        }
    }

    private void receive(Random random) throws InterruptedException {
        ZMTPMessage message = socket.receive(WAIT);
        if (message != null) {
            tally.got(message);
        }
    }

    private void receiveOrCancel(Random random) throws InterruptedException, ExecutionException {
        CompletableFuture<ZMTPMessage> future = socket.receiveAsync();
        ZMTPMessage message;
        try {
            message = future.get(random.nextInt(2_000), TimeUnit.MICROSECONDS);
        } catch (InterruptedException | TimeoutException e) {
            if (future.cancel(false)) {
                return;
            }
            Thread.interrupted();
            message = future.get();
        }
        tally.got(message);
    }

    /** Waits for the threads, after the socket was closed. */
    void join() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
