package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A PUSH that deals out tasks, and PULLs that do them: each task goes to one of the workers that have room for it. */
public final class WorkQueue {

    private WorkQueue() {}

    /** Deals out four tasks to two workers. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH socket and two PULLs in this process. Nothing to run beside it.");
        try (ZMTPSocket source = ZMTPSocket.of(PUSH)) {
            String endpoint =
                    source.bind("tcp://127.0.0.1:*").readyFuture().join().text();
            List<String> tasks = List.of("wash", "iron", "fold", "sort");
            CountDownLatch done = new CountDownLatch(tasks.size());
            ZMTPSocket first = worker(endpoint, task -> report("first", task, done));
            ZMTPSocket second = worker(endpoint, task -> report("second", task, done));
            try {
                dealOut(source, tasks);
                done.await();
            } finally {
                first.close();
                second.close();
            }
        }
    }

    private static void report(String worker, String task, CountDownLatch done) {
        System.out.println(worker + " has done: " + task);
        done.countDown();
    }

    /** Sends all tasks, and waits while no worker has room. Not for use on an event loop. */
    static void dealOut(ZMTPSocket source, List<String> tasks) throws InterruptedException {
        for (String text : tasks) {
            source.send(ZMTPMessage.fromUTF8(text));
        }
    }

    /** Does tasks on the event loop, where nothing may block. */
    static ZMTPSocket worker(String endpoint, Consumer<String> onTask) {
        ZMTPSocket worker = ZMTPSocket.of(PULL);
        worker.onMessage((source, task) -> {
            try {
                onTask.accept(task.frame(0).toString(UTF_8));
            } finally {
                task.release();
            }
        });
        worker.connect(endpoint);
        return worker;
    }
}
