package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.channel.EventLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/** Sockets as they are used where the application has threads of its own, or takes what comes as futures or a stream. */
final class SocketViews extends SocketTraffic {

    /** Messages whose futures are not yet complete. */
    private static final int IN_FLIGHT = 500;

    /** What a subscriber of a stream asks for at a time. */
    private static final int DEMAND = 128;

    private static final long AWHILE_NANOS = 20_000;

    /** What a thread does. */
    private interface Task {
        void run() throws Exception;
    }

    SocketViews(Program program, EventLoop loop, Counter messages) {
        super(program, loop, messages);
    }

    private void thread(String name, Task task) {
        Thread thread = new Thread(guarded(task), name);
        thread.setDaemon(true);
        thread.start();
    }

    private Runnable guarded(Task task) {
        return () -> {
            try {
                task.run();
            } catch (Throwable e) {
                program.fail(e);
            }
        };
    }

    @Override
    void send(ZMTPSocket socket, ZMTPMessage message) {
        switch (arguments.view()) {
            case THREAD -> thread("sending", () -> sendWhileThereIsRoom(socket, message));
            case FUTURES -> thread("sending", () -> sendWithFutures(socket, message));
            case BLOCKING -> thread("sending", () -> sendAndWait(socket, message));
            default -> super.send(socket, message);
        }
    }

    private void sendWhileThereIsRoom(ZMTPSocket socket, ZMTPMessage message) {
        Thread sender = Thread.currentThread();
        socket.onWritable(() -> LockSupport.unpark(sender));
        while (true) {
            int sent = 0;
            while (sent < DEMAND) {
                ZMTPMessage next = again(message);
                if (!socket.trySend(next)) {
                    next.release();
                    break;
                }
                sent++;
            }
            messages.add(sent);
            if (sent < DEMAND) {
                LockSupport.parkNanos(AWHILE_NANOS);
            }
        }
    }

    private void sendWithFutures(ZMTPSocket socket, ZMTPMessage message) throws InterruptedException {
        Semaphore room = new Semaphore(IN_FLIGHT);
        while (true) {
            room.acquire();
            socket.sendAsync(message.retain()).whenComplete((sent, failure) -> {
                room.release();
                if (failure != null) {
                    program.fail(failure);
                }
            });
            messages.add(1);
        }
    }

    private void sendAndWait(ZMTPSocket socket, ZMTPMessage message) throws InterruptedException {
        while (true) {
            socket.send(again(message));
        }
    }

    /** Several threads may receive, each from a socket of its own, and the counter is that of one thread. */
    private void receiveAll(ZMTPSocket socket) throws InterruptedException {
        while (true) {
            for (int i = 0; i < DEMAND; i++) {
                checked(socket.receive());
            }
            synchronized (messages) {
                messages.add(DEMAND);
            }
        }
    }

    @Override
    void receive(ZMTPSocket socket) {
        switch (arguments.view()) {
            case FUTURES -> receiveNext(socket);
            case BLOCKING -> thread("receiving", () -> receiveAll(socket));
            default -> super.receive(socket);
        }
    }

    /** Takes all that are there, and then has the next one go on. */
    private void receiveNext(ZMTPSocket socket) {
        CompletableFuture<ZMTPMessage> next = socket.receiveAsync();
        while (next.isDone()) {
            received(next.join());
            next = socket.receiveAsync();
        }
        next.whenComplete((message, failure) -> {
            if (failure == null) {
                received(message);
                receiveNext(socket);
            }
        });
    }

    @Override
    void ask(ZMTPSocket socket, ZMTPMessage request) {
        switch (arguments.view()) {
            case FUTURES -> thread("asking", () -> askWithFutures(socket, request));
            case VIRTUAL -> {
                Executor threads = virtualThreads();
                for (int i = 0; i < arguments.outstanding(); i++) {
                    threads.execute(guarded(() -> askAndWait(socket, request)));
                }
            }
            default -> super.ask(socket, request);
        }
    }

    private void askWithFutures(ZMTPSocket socket, ZMTPMessage request) throws InterruptedException {
        Semaphore room = new Semaphore(arguments.outstanding());
        while (true) {
            room.acquire();
            socket.requestAsync(request.retain(), PATIENCE).whenComplete((answer, failure) -> {
                if (failure != null) {
                    program.fail(failure);
                    return;
                }
                answer.release();
                messages.add(1);
                room.release();
            });
        }
    }

    private void askAndWait(ZMTPSocket socket, ZMTPMessage request) throws Exception {
        while (true) {
            socket.requestAsync(request.retain(), PATIENCE).get().release();
            loop.execute(() -> messages.add(1)); // of one thread, as the counter wants
        }
    }

    /** The JDK may be older than virtual threads. */
    private static Executor virtualThreads() {
        try {
            return (Executor) MethodHandles.publicLookup()
                    .findStatic(
                            java.util.concurrent.Executors.class,
                            "newVirtualThreadPerTaskExecutor",
                            MethodType.methodType(java.util.concurrent.ExecutorService.class))
                    .invoke();
        } catch (Throwable e) {
            throw new IllegalStateException("virtual threads need JDK 21", e);
        }
    }

    @Override
    void ping(ZMTPSocket socket, ZMTPMessage ping) {
        switch (arguments.view()) {
            case BLOCKING ->
                thread("asking", () -> {
                    while (true) {
                        long sent = System.nanoTime();
                        socket.send(ping.retain());
                        answered(socket.receive(), sent);
                    }
                });
            case REQUEST ->
                thread("asking", () -> {
                    while (true) {
                        long sent = System.nanoTime();
                        answered(socket.request(ping.retain(), PATIENCE), sent);
                    }
                });
            default -> super.ping(socket, ping);
        }
    }

    private void answered(ZMTPMessage pong, long sent) {
        pong.release();
        program.latencies().record(System.nanoTime() - sent);
        messages.add(1);
    }

    @Override
    void answerPings(ZMTPSocket socket) {
        if (arguments.view() != View.BLOCKING) {
            super.answerPings(socket);
            return;
        }
        ZMTPMessage pong = message(arguments.pong());
        thread("answering", () -> {
            while (true) {
                socket.receive().release();
                socket.send(pong.retain());
                messages.add(1);
            }
        });
    }
}
