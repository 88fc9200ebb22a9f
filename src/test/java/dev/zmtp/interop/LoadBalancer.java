package dev.zmtp.interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

/** The load-balancing broker of ZeroMQ's guide: a worker is idle after it has asked for work or has answered. */
final class LoadBalancer {

    static final String READY = "READY";

    private static final int ENVELOPE = 2; // the name, and an empty frame

    private final PeerSocket clients;
    private final PeerSocket workers;
    private final int clientsPort;
    private final int workersPort;
    private final Queue<List<byte[]>> idle = new ArrayDeque<>();

    /** Listens with two sockets of the type ROUTER. */
    LoadBalancer(PeerSocket clients, PeerSocket workers) {
        this.clients = clients;
        this.workers = workers;
        clientsPort = clients.bind();
        workersPort = workers.bind();
    }

    int clientsPort() {
        return clientsPort;
    }

    int workersPort() {
        return workersPort;
    }

    /** Has the next question answered by the worker that is idle for longest. */
    void pass() {
        List<byte[]> question = Messages.frames(clients.receive());
        while (idle.isEmpty()) {
            hearWorker();
        }
        List<byte[]> job = new ArrayList<>(idle.remove());
        job.addAll(question);
        workers.send(Messages.of(job));

        boolean answered = false;
        while (!answered) {
            answered = hearWorker();
        }
    }

    /** Returns whether the worker has answered a question. */
    private boolean hearWorker() {
        List<byte[]> message = Messages.frames(workers.receive());
        idle.add(message.subList(0, ENVELOPE));
        List<byte[]> content = message.subList(ENVELOPE, message.size());
        if (Arrays.equals(content.get(0), READY.getBytes(StandardCharsets.UTF_8))) {
            return false;
        }
        clients.send(Messages.of(content));
        return true;
    }
}
