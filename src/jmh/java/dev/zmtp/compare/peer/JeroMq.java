package dev.zmtp.compare.peer;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * JeroMQ: a socket of its own API at each end, with one I/O thread, and one thread of the application.
 *
 * <p>All settings are JeroMQ's defaults but these. A ROUTER waits where it would drop what a full queue does not take
 * (ROUTER_MANDATORY), otherwise requests would get lost. A connecting socket takes no message before its connection is
 * there (IMMEDIATE), which shows when that is.
 */
final class JeroMq {

    /** Messages to one socket before it is the turn of the next. */
    private static final int BATCH = 128;

    /** A connection of JeroMQ may open and never greet; it is given up after this time, and made again. */
    private static final int HANDSHAKE_MILLIS = 500;

    /** Those that are closed, and not yet gone. */
    private static final int SPARE_SOCKETS = 1_000;

    private static final String INPROC = "inproc://pair";

    private static final long AWHILE_NANOS = 100_000;

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final Program program;
    private final Arguments arguments;

    /**
     * The message of a schedule that there was no room for: one more for each try would be garbage that no application
     * makes.
     */
    private byte[] next;

    private JeroMq(Program program) {
        this.program = program;
        this.arguments = program.arguments();
    }

    static void start(Program program) throws Exception {
        if (program.arguments().transport().isPresent()) {
            throw new UsageException(
                    "transport: " + program.arguments().transport().get() + " (expected: none for JeroMQ)");
        }
        if (program.arguments().busy()) {
            throw new UnsupportedException("its I/O thread always blocks");
        }
        if (program.arguments().workload() == Workload.CUSTOM) {
            throw new UnsupportedException("it has no custom encoders and decoders");
        }
        if (program.arguments().medium() != Medium.TCP && program.arguments().medium() != Medium.INPROC) {
            throw new UnsupportedException("it is measured over TCP and inproc");
        }
        if (program.arguments().workload() == Workload.LATENCY) {
            throw new UnsupportedException("it is measured by replies");
        }
        new JeroMq(program).start();
    }

    private void start() {
        if (arguments.workload() == Workload.PROXY) {
            thread("starting", new JeroMqProxy(this, program, context())::start);
            return;
        }
        boolean inproc = arguments.medium() == Medium.INPROC;
        ZContext context = context();
        String endpoint = inproc ? INPROC : "tcp://127.0.0.1:" + arguments.port();
        if (arguments.role().binds()) {
            ZMQ.Socket socket = socket(context, true);
            socket.bind(inproc ? INPROC : "tcp://127.0.0.1:*");
            endpoint = socket.getLastEndpoint();
            Counter messages = program.messages(true);
            if (!inproc) {
                program.bound(Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1)));
            }
            thread("binding", () -> serve(socket, messages));
        }
        if (arguments.role().connects()) {
            String to = endpoint;
            Counter messages = program.messages(false);
            if (arguments.workload() == Workload.CONNECTS) {
                thread("connecting", () -> connectAgain(to, messages));
            } else {
                thread("connecting", () -> {
                    List<ZMQ.Socket> sockets = connect(inproc ? context : context(), to);
                    openMutes();
                    program.ready();
                    drive(sockets, messages);
                });
            }
        }
    }

    void thread(String name, Runnable task) {
        // It ends with the program, which does not close its sockets.
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((which, cause) -> program.fail(cause));
        thread.start();
    }

    private ZContext context() {
        ZContext context = new ZContext(1);
        context.getContext().setMaxSockets(arguments.connections() + SPARE_SOCKETS);
        return context;
    }

    private ZMQ.Socket socket(ZContext context, boolean binding) {
        ZMQ.Socket socket = context.createSocket(type(binding));
        socket.setHandshakeIvl(HANDSHAKE_MILLIS);
        if (socket.getSocketType() == SocketType.ROUTER) {
            socket.setRouterMandatory(true);
        }
        if (socket.getSocketType() == SocketType.XPUB) {
            socket.setXpubVerbose(true);
            socket.setXpubNoDrop(arguments.workload() == Workload.PUBSUB && !arguments.drops());
        }
        if (arguments.queue() > 0) {
            socket.setHWM(arguments.queue());
        }
        if (arguments.curve()) {
            secure(socket, binding);
        }
        return socket;
    }

    private static void secure(ZMQ.Socket socket, boolean binding) {
        if (binding) {
            socket.setRcvHWM(0); // at its mark it hands out boxes in place of messages (zeromq/jeromq, issue 1009)
            socket.setCurveServer(true);
            socket.setCurveSecretKey(CurveKeys.SERVER_SECRET.getBytes(StandardCharsets.US_ASCII));
        } else {
            socket.setCurveServerKey(CurveKeys.SERVER_PUBLIC.getBytes(StandardCharsets.US_ASCII));
            socket.setCurvePublicKey(CurveKeys.CLIENT_PUBLIC.getBytes(StandardCharsets.US_ASCII));
            socket.setCurveSecretKey(CurveKeys.CLIENT_SECRET.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private SocketType type(boolean binding) {
        if (arguments.workload() == Workload.ROUNDTRIP) {
            return binding ? SocketType.REP : SocketType.REQ;
        }
        if (arguments.workload().sentByBinding()) {
            return binding ? SocketType.XPUB : SocketType.SUB; // an XPUB hears how many have subscribed
        }
        if (arguments.workload().answered() || (arguments.role() == Role.PAIR && arguments.medium() != Medium.INPROC)) {
            return binding ? SocketType.ROUTER : SocketType.DEALER;
        }
        return binding ? SocketType.PULL : SocketType.PUSH;
    }

    /** Returns as many sockets as there should be connections, each connected. */
    private List<ZMQ.Socket> connect(ZContext context, String endpoint) {
        List<ZMQ.Socket> sockets = new ArrayList<>();
        for (int i = 0; i < arguments.connections(); i++) {
            ZMQ.Socket socket = socket(context, false);
            socket.setImmediate(false); // despite its name, this option makes it wait
            if (socket.getSocketType() == SocketType.SUB) {
                socket.subscribe(ZMQ.SUBSCRIPTION_ALL);
            }
            socket.connect(endpoint);
            sockets.add(socket);
        }
        if (!arguments.workload().sentByBinding()) { // there, the publisher waits
            sockets.forEach(JeroMq::awaitConnection);
        }
        return sockets;
    }

    private static void awaitConnection(ZMQ.Socket socket) {
        while ((socket.getEvents() & ZMQ.Poller.POLLOUT) == 0) {
            LockSupport.parkNanos(AWHILE_NANOS);
        }
    }

    private void serve(ZMQ.Socket socket, Counter messages) {
        switch (arguments.workload()) {
            case ONEWAY, CONNECTIONS -> receive(socket, messages);
            case REQREP, PEERS, CONNECTS -> echo(socket, messages, 1);
            case PUBSUB -> publish(socket, messages);
            case NEWS -> publishOnTime(socket, messages);
            case ROUNDTRIP -> pong(socket, messages);
            case OPENLOOP -> echo(socket, messages, arguments.every());
            default -> {} // idle
        }
    }

    private void drive(List<ZMQ.Socket> sockets, Counter messages) {
        switch (arguments.workload()) {
            case ONEWAY -> send(sockets.get(0), messages);
            case CONNECTIONS -> sendByTurns(sockets, messages);
            case PUBSUB, NEWS -> receiveByTurns(sockets, messages);
            case REQREP -> ask(sockets.get(0), messages);
            case PEERS -> askInTurn(sockets, messages);
            case ROUNDTRIP -> ping(sockets.get(0), messages);
            case OPENLOOP -> sendOnTime(sockets.get(0), messages);
            default -> {} // idle
        }
    }

    void receive(ZMQ.Socket socket, Counter messages) {
        while (true) {
            byte[] frame;
            do {
                frame = socket.recv(); // first the peer's name, if this is a ROUTER
            } while (socket.hasReceiveMore());
            if (frame[0] != 0) {
                throw new IllegalStateException("first byte: " + frame[0] + " (expected: 0)");
            }
            messages.add(1);
        }
    }

    /**
     * Sends the same array: {@code send} wraps it into a new message and copies nothing, and no message can be sent
     * twice.
     */
    void send(ZMQ.Socket socket, Counter messages) {
        byte[] body = new byte[arguments.size()];
        while (true) {
            socket.send(body);
            messages.add(1);
        }
    }

    private void publish(ZMQ.Socket socket, Counter messages) {
        awaitSubscribers(socket);
        send(socket, messages);
    }

    private void awaitSubscribers(ZMQ.Socket publisher) {
        for (int i = 0; i < arguments.connections() + arguments.mute(); i++) {
            publisher.recv(); // a subscription
        }
    }

    private void openMutes() {
        try {
            MuteSubscriber.openAll(arguments);
        } catch (IOException e) {
            program.fail(e);
        }
    }

    private void publishOnTime(ZMQ.Socket socket, Counter messages) {
        awaitSubscribers(socket);
        Schedule schedule = program.schedule();
        schedule.restart();
        while (true) {
            int sent = sendWhatIsDue(socket, schedule);
            messages.add(sent);
            giveWay(sent);
        }
    }

    private void receiveByTurns(List<ZMQ.Socket> sockets, Counter messages) {
        try (ZMQ.Poller poller = new ZContext(1).createPoller(sockets.size())) {
            sockets.forEach(socket -> poller.register(socket, ZMQ.Poller.POLLIN));
            while (true) {
                int all = 0;
                for (int i = 0; i < sockets.size(); i++) {
                    int received = 0;
                    while (received < BATCH && receive(sockets.get(i))) {
                        received++;
                    }
                    messages.add(received);
                    all += received;
                }
                if (all == 0) {
                    poller.poll();
                }
            }
        }
    }

    private boolean receive(ZMQ.Socket socket) {
        byte[] news = socket.recv(ZMQ.DONTWAIT);
        if (news != null && arguments.workload() == Workload.NEWS) {
            program.latencies().record(System.nanoTime() - (long) LONG.get(news, 0));
        }
        return news != null;
    }

    private void sendByTurns(List<ZMQ.Socket> sockets, Counter messages) {
        byte[] body = new byte[arguments.size()];
        try (ZMQ.Poller poller = new ZContext(1).createPoller(sockets.size())) {
            sockets.forEach(socket -> poller.register(socket, ZMQ.Poller.POLLOUT));
            while (true) {
                int all = 0;
                for (int i = 0; i < sockets.size(); i++) {
                    int sent = 0;
                    while (sent < BATCH && sockets.get(i).send(body, ZMQ.DONTWAIT)) {
                        sent++;
                    }
                    messages.add(sent);
                    all += sent;
                }
                if (all == 0) {
                    poller.poll();
                }
            }
        }
    }

    /** Sends back each n-th message, with the peer's name before it. */
    private static void echo(ZMQ.Socket socket, Counter messages, int every) {
        int untilNext = every;
        while (true) {
            boolean answers = --untilNext == 0;
            boolean more;
            do {
                byte[] frame = socket.recv();
                more = socket.hasReceiveMore();
                if (answers) {
                    socket.send(frame, more ? ZMQ.SNDMORE : 0);
                }
            } while (more);
            if (answers) {
                untilNext = every;
            }
            messages.add(1);
        }
    }

    /** Keeps requests in flight. */
    private void ask(ZMQ.Socket socket, Counter messages) {
        int[] sizes = arguments.size() == 0 ? CodecTraffic.requestSizes() : new int[] {arguments.size()};
        byte[][] request = new byte[sizes.length][];
        for (int i = 0; i < request.length; i++) {
            request[i] = new byte[sizes[i]];
        }
        int inFlight = 0;
        while (true) {
            while (inFlight < arguments.outstanding() && trySend(socket, request)) {
                inFlight++;
            }
            byte[] frame = socket.recv(); // waits for one answer, and then takes all that are there
            while (frame != null) {
                while (socket.hasReceiveMore()) {
                    socket.recv();
                }
                inFlight--;
                messages.add(1);
                frame = socket.recv(ZMQ.DONTWAIT);
            }
        }
    }

    /** Keeps requests in flight, each to another socket. Answers come in the order of the requests. */
    private void askInTurn(List<ZMQ.Socket> sockets, Counter messages) {
        byte[] request = new byte[arguments.size()];
        int size = sockets.size();
        for (int i = 0; i < arguments.outstanding(); i++) {
            sockets.get(i % size).send(request);
        }
        int oldest = 0;
        int next = arguments.outstanding() % size;
        while (true) {
            sockets.get(oldest).recv();
            messages.add(1);
            sockets.get(next).send(request);
            oldest = (oldest + 1) % size;
            next = (next + 1) % size;
        }
    }

    /** Makes connections all the time, each for one request. */
    private void connectAgain(String endpoint, Counter messages) {
        ZContext context = context();
        byte[] request = new byte[arguments.size()];
        ZMQ.Socket[] sockets = new ZMQ.Socket[arguments.outstanding()];
        program.ready();
        for (int i = 0; true; i = (i + 1) % sockets.length) {
            if (sockets[i] != null) {
                sockets[i].recv();
                messages.add(1);
                sockets[i].setLinger(0);
                sockets[i].close();
            }
            sockets[i] = socket(context, false);
            sockets[i].connect(endpoint);
            sockets[i].send(request);
        }
    }

    private static boolean trySend(ZMQ.Socket socket, byte[][] frames) {
        if (!socket.send(frames[0], (frames.length > 1 ? ZMQ.SNDMORE : 0) | ZMQ.DONTWAIT)) {
            return false;
        }
        for (int i = 1; i < frames.length; i++) {
            socket.send(frames[i], i < frames.length - 1 ? ZMQ.SNDMORE : 0);
        }
        return true;
    }

    private void ping(ZMQ.Socket socket, Counter messages) {
        byte[] ping = new byte[arguments.ping()];
        while (true) {
            long sent = System.nanoTime();
            socket.send(ping);
            socket.recv();
            program.latencies().record(System.nanoTime() - sent);
            messages.add(1);
        }
    }

    private void pong(ZMQ.Socket socket, Counter messages) {
        byte[] pong = new byte[arguments.pong()];
        while (true) {
            socket.recv();
            socket.send(pong);
            messages.add(1);
        }
    }

    /** A socket is one thread's: this one looks for answers between what it sends, and never waits. */
    private void sendOnTime(ZMQ.Socket socket, Counter messages) {
        Schedule schedule = program.schedule();
        schedule.restart();
        while (true) {
            int sent = sendWhatIsDue(socket, schedule);
            int received = 0;
            messages.add(sent);
            for (byte[] echo = socket.recv(ZMQ.DONTWAIT); echo != null; echo = socket.recv(ZMQ.DONTWAIT)) {
                program.latencies().record(System.nanoTime() - (long) LONG.get(echo, 0));
                received++;
            }
            giveWay(sent + received);
        }
    }

    /** Lets the I/O thread have the core of a thread that has nothing to do, because such a thread never waits. */
    @SuppressWarnings("ThreadPriorityCheck") // as a program would that sends by a schedule
    private static void giveWay(int done) {
        if (done == 0) {
            Thread.yield();
        }
    }

    private int sendWhatIsDue(ZMQ.Socket socket, Schedule schedule) {
        long now = System.nanoTime();
        if (schedule.begin(now)) {
            next = null;
        }
        int sent = 0;
        while (schedule.due() <= now && sent < Schedule.BURST) {
            if (next == null) {
                next = timed(schedule.due());
            }
            if (!socket.send(next, ZMQ.DONTWAIT)) {
                break;
            }
            next = null;
            if (schedule.isLate(now)) {
                program.late().add(1);
            }
            schedule.next();
            sent++;
        }
        return sent;
    }

    private byte[] timed(long time) {
        byte[] body = new byte[arguments.size()];
        LONG.set(body, 0, time);
        return body;
    }
}
