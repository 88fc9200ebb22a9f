package dev.zmtp.interop;

import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Consumer;

/** A PULL of libzmq with a short queue that works on one job after the other. */
public final class LibZmqWorker implements AutoCloseable {

    private static final int PULL = 7;
    private static final int QUEUE = 10;

    /** How often the worker looks whether it is to end. */
    private static final int WAIT_MILLIS = 100;

    private final LibZmq zmq = LibZmqFinder.require();
    private final Pointer context = zmq.newContext();
    private final Helpers helpers = new Helpers();
    private final Consumer<String> done;
    private volatile long workMillis;
    private volatile boolean ended;

    /** Connects, takes so long for each job, and passes the job to {@code done} before it. */
    public LibZmqWorker(String endpoint, Duration work, Consumer<String> done) {
        this.done = done;
        workMillis = work.toMillis();
        Pointer socket = zmq.socket(context, PULL);
        zmq.set(socket, LibZmq.RCVHWM, QUEUE);
        zmq.set(socket, LibZmq.RCVTIMEO, WAIT_MILLIS);
        zmq.connect(socket, endpoint);
        helpers.start("libzmq worker", () -> work(socket));
    }

    /** From now on a job takes no time. */
    public void hurry() {
        workMillis = 0;
    }

    private void work(Pointer socket) {
        try {
            while (!ended) {
                LibZmq.Frame job = zmq.receive(socket);
                if (job != null) {
                    done.accept(new String(job.bytes(), StandardCharsets.UTF_8));
                    Thread.sleep(workMillis);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            zmq.close(socket);
        }
    }

    @Override
    public void close() {
        ended = true;
        helpers.join();
        zmq.terminate(context);
    }
}
