package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.UncheckedZMQException;
import org.zeromq.ZAuth;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/** JeroMQ, which speaks ZMTP 3.0. */
final class JeroMqPeer implements PeerContext {

    private static final String ZAP = "inproc://zeromq.zap.01";
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    /** JeroMQ's own is 30 s. */
    private static final Duration DEFAULT_HANDSHAKE_INTERVAL = Duration.ofSeconds(5);

    private static final int EVENTS =
            ZMQ.EVENT_DISCONNECTED | ZMQ.HANDSHAKE_FAILED_PROTOCOL | ZMQ.HANDSHAKE_FAILED_AUTH;

    private final ZContext context = new ZContext();
    private final Helpers helpers = new Helpers();
    private final Duration handshakeInterval;

    JeroMqPeer() {
        this(DEFAULT_HANDSHAKE_INTERVAL);
    }

    /**
     * All sockets have this for a handshake, unless they are told otherwise, and then connect again. A JeroMQ that
     * connects stays mute now and then (zeromq/jeromq, pull request 1022), and this is the cure.
     */
    JeroMqPeer(Duration handshakeInterval) {
        this.handshakeInterval = handshakeInterval;
    }

    @Override
    public ZMTPVersion version() {
        return ZMTPVersion.ZMTP30;
    }

    @Override
    public PeerSocket socket(ZMTPSocketType type) {
        ZMQ.Socket socket = context.createSocket(SocketType.valueOf(type.name()));
        socket.setLinger(0);
        socket.setSendTimeOut((int) Patience.LIMIT.toMillis());
        socket.setHandshakeIvl((int) handshakeInterval.toMillis());
        return new Socket(socket);
    }

    /** Starts JeroMQ's own ZAP handler, the caller's to close before this peer. */
    ZAuth zauth() {
        return new ZAuth(context);
    }

    @Override
    public void zapHandler(ZapDecider decider) {
        ZMQ.Socket handler = openForHelper(SocketType.REP);
        check(handler, handler.bind(ZAP));
        help("JeroMQ ZAP handler", () -> answer(handler, decider), handler);
    }

    private static void answer(ZMQ.Socket handler, ZapDecider decider) {
        while (true) {
            List<byte[]> request = frames(handler);
            if (request == null) {
                return;
            }
            send(handler, ZapRequest.answer(request, decider));
        }
    }

    @Override
    public int zapProxy() {
        return proxy(ZAP);
    }

    @Override
    public int proxy(String endpoint) {
        ZMQ.Socket front = openForHelper(SocketType.ROUTER);
        ZMQ.Socket back = openForHelper(SocketType.DEALER);
        int port = Endpoints.port(bind(front, ANY_PORT));
        check(back, back.connect(endpoint));
        help("JeroMQ proxy", () -> ZMQ.proxy(front, back, null), front, back);
        return port;
    }

    /** A socket that a helper closes, and that the context does not: that would be another thread. */
    private ZMQ.Socket openForHelper(SocketType type) {
        ZMQ.Socket socket = context.getContext().socket(type);
        socket.setLinger(0);
        return socket;
    }

    private void help(String name, Runnable work, ZMQ.Socket... sockets) {
        helpers.start(name, () -> {
            try {
                work.run();
            } catch (UncheckedZMQException e) {
                if (!context.isClosed()) {
                    throw e; // not because the context ends
                }
            } finally {
                for (ZMQ.Socket socket : sockets) {
                    socket.close();
                }
            }
        });
    }

    /**
     * Leaves the context behind if it does not end: its I/O thread can die of an assertion when a connection ends while
     * a ZAP handler is asked (zmq.io.SessionBase.writeZapMsg), and nothing else ends it.
     */
    @Override
    public void close() {
        FutureTask<Void> closing = new FutureTask<>(context::close, null); // when the helpers have closed their sockets
        Thread thread = new Thread(closing, "end of JeroMQ");
        thread.setDaemon(true);
        thread.start();
        try {
            closing.get(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError("the end of JeroMQ", e);
        } catch (TimeoutException e) {
            System.err.println("JeroMQ did not end"); // see above
        }
        helpers.join();
    }

    private static String bind(ZMQ.Socket socket, String endpoint) {
        check(socket, socket.bind(endpoint));
        return socket.getLastEndpoint();
    }

    private static void send(ZMQ.Socket socket, List<byte[]> frames) {
        if (JeroMqDrafts.hasField(socket)) {
            check(socket, JeroMqDrafts.send(socket, frames));
            return;
        }
        for (int i = 0, last = frames.size() - 1; i <= last; i++) {
            check(socket, socket.send(frames.get(i), i < last ? ZMQ.SNDMORE : 0));
        }
    }

    private static @Nullable List<byte[]> frames(ZMQ.Socket socket) {
        if (JeroMqDrafts.hasField(socket)) {
            return JeroMqDrafts.receive(socket);
        }
        List<byte[]> frames = new ArrayList<>();
        do {
            byte[] frame = socket.recv();
            if (frame == null) {
                return null;
            }
            frames.add(frame);
        } while (socket.hasReceiveMore());
        return frames;
    }

    private static void check(ZMQ.Socket socket, boolean done) {
        if (!done) {
            throw new AssertionError("JeroMQ: errno " + socket.errno() + " (expected: success)");
        }
    }

    private final class Socket implements PeerSocket {

        private final ZMQ.Socket socket;
        private final BlockingQueue<PeerEvent> events = new LinkedBlockingQueue<>();

        Socket(ZMQ.Socket socket) {
            this.socket = socket;
            socket.setEventHook(event -> events.add(read(event)), EVENTS);
        }

        private PeerEvent read(ZEvent event) {
            return switch (event.getEvent()) {
                case DISCONNECTED -> PeerEvent.of(PeerEvent.Kind.DISCONNECTED);
                case HANDSHAKE_FAILED_PROTOCOL -> PeerEvent.of(PeerEvent.Kind.FAILED_PROTOCOL);
                case HANDSHAKE_FAILED_AUTH -> PeerEvent.refused(event.<Integer>getValue());
                default -> throw new AssertionError("event: " + event + " (expected: one that was asked for)");
            };
        }

        @Override
        public void identity(String identity) {
            check(socket.setIdentity(identity.getBytes(StandardCharsets.UTF_8)));
        }

        @Override
        public void heartbeat(Duration interval, Duration timeout, Duration ttl) {
            check(socket.setHeartbeatIvl((int) interval.toMillis()));
            check(socket.setHeartbeatTimeout((int) timeout.toMillis()));
            check(socket.setHeartbeatTtl((int) ttl.toMillis()));
        }

        @Override
        public void handshakeInterval(Duration interval) {
            check(socket.setHandshakeIvl((int) interval.toMillis()));
        }

        @Override
        public void queues(int sent, int received) {
            check(socket.setSndHWM(sent));
            check(socket.setRcvHWM(received));
        }

        @Override
        public void plainClient(String user, String password) {
            check(socket.setPlainUsername(user));
            check(socket.setPlainPassword(password));
        }

        @Override
        public void plainServer(String domain) {
            check(socket.setPlainServer(true));
            check(socket.setZapDomain(domain));
        }

        @Override
        public void curveClient(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
            check(socket.setCurveServerKey(server.bytes()));
            check(socket.setCurvePublicKey(own.publicKey().bytes()));
            check(socket.setCurveSecretKey(own.secretKey()));
        }

        @Override
        public void correlate() {
            check(socket.setReqCorrelate(true));
        }

        @Override
        public void probeRouter() {
            check(socket.setProbeRouter(true));
        }

        @Override
        public void curveServer(ZMTPCurveKeyPair own, String domain) {
            check(socket.setCurveServer(true));
            check(socket.setCurvePublicKey(own.publicKey().bytes()));
            check(socket.setCurveSecretKey(own.secretKey()));
            check(socket.setZapDomain(domain));
        }

        @Override
        public void zapHandler(ZapDecider decider) {
            JeroMqPeer.this.zapHandler(decider);
        }

        @Override
        public void subscribe(String topic) {
            if (socket.getSocketType() == SocketType.DISH) {
                check(socket.join(topic));
            } else if (socket.getSocketType() == SocketType.XSUB) {
                send(Messages.rawSubscription(true, topic));
            } else {
                check(socket.subscribe(topic));
            }
        }

        @Override
        public void unsubscribe(String topic) {
            if (socket.getSocketType() == SocketType.DISH) {
                check(socket.leave(topic));
            } else if (socket.getSocketType() == SocketType.XSUB) {
                send(Messages.rawSubscription(false, topic));
            } else {
                check(socket.unsubscribe(topic));
            }
        }

        @Override
        public String bind(String endpoint) {
            return JeroMqPeer.bind(socket, endpoint);
        }

        @Override
        public void connect(String endpoint) {
            check(socket.connect(endpoint));
        }

        @Override
        public void send(ZMTPMessage message) {
            JeroMqPeer.send(socket, Messages.frames(message));
        }

        @Override
        public boolean send(ZMTPMessage message, Duration wait) {
            check(socket.setSendTimeOut((int) wait.toMillis()));
            List<byte[]> frames = Messages.frames(message);
            for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                // Once the first frame was taken, the others are, or are dropped with it.
                if (!socket.send(frames.get(i), i < last ? ZMQ.SNDMORE : 0) && i == 0) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public @Nullable ZMTPMessage receive(Duration wait) {
            check(socket.setReceiveTimeOut((int) wait.toMillis()));
            List<byte[]> frames = frames(socket);
            return frames == null ? null : Messages.of(frames);
        }

        @Override
        public void pump() {
            socket.getEvents();
        }

        @Override
        public PeerEvent event() {
            try {
                PeerEvent event = events.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                if (event == null) {
                    throw new AssertionError("event of JeroMQ: none (expected: one)");
                }
                return event;
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }

        private void check(boolean done) {
            JeroMqPeer.check(socket, done);
        }
    }
}
