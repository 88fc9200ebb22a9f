package dev.zmtp.interop;

import com.sun.jna.Pointer;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** libzmq, which speaks ZMTP 3.1 since version 4.3.3. */
final class LibZmqPeer implements PeerContext {

    /** The types in the order of their numbers in C. */
    private static final List<ZMTPSocketType> TYPES = List.of(
            ZMTPSocketType.PAIR,
            ZMTPSocketType.PUB,
            ZMTPSocketType.SUB,
            ZMTPSocketType.REQ,
            ZMTPSocketType.REP,
            ZMTPSocketType.DEALER,
            ZMTPSocketType.ROUTER,
            ZMTPSocketType.PULL,
            ZMTPSocketType.PUSH,
            ZMTPSocketType.XPUB,
            ZMTPSocketType.XSUB);

    private static final String ZAP = "inproc://zeromq.zap.01";
    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    private static final int EVENTS = LibZmq.EVENT_DISCONNECTED
            | LibZmq.EVENT_HANDSHAKE_SUCCEEDED
            | LibZmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | LibZmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
            | LibZmq.EVENT_HANDSHAKE_FAILED_AUTH;

    private final LibZmq zmq;
    private final Pointer context;
    private final List<Pointer> sockets = new ArrayList<>();
    private final Helpers helpers = new Helpers();

    LibZmqPeer(LibZmq zmq) {
        this.zmq = zmq;
        this.context = zmq.newContext();
    }

    @Override
    public ZMTPVersion version() {
        return zmq.isAtLeast(4, 3, 3) ? ZMTPVersion.ZMTP31 : ZMTPVersion.ZMTP30;
    }

    @Override
    public PeerSocket socket(ZMTPSocketType type) {
        return new Socket(type);
    }

    private Pointer open(ZMTPSocketType type) {
        Pointer socket = openForHelper(type);
        sockets.add(socket);
        return socket;
    }

    /** A socket that a helper closes. */
    private Pointer openForHelper(ZMTPSocketType type) {
        Pointer socket = zmq.socket(context, TYPES.indexOf(type));
        zmq.set(socket, LibZmq.LINGER, 0);
        zmq.set(socket, LibZmq.SNDTIMEO, (int) Patience.LIMIT.toMillis());
        return socket;
    }

    /** Binds {@code socket}, and returns where that is. */
    private String bind(Pointer socket, String endpoint) {
        zmq.bind(socket, endpoint);
        return zmq.getString(socket, LibZmq.LAST_ENDPOINT);
    }

    private @Nullable List<byte[]> frames(Pointer from) {
        List<byte[]> frames = new ArrayList<>();
        boolean more = true;
        while (more) {
            LibZmq.Frame frame = zmq.receive(from);
            if (frame == null) {
                return null;
            }
            frames.add(frame.bytes());
            more = frame.more();
        }
        return frames;
    }

    @Override
    public void zapHandler(ZapDecider decider) {
        Pointer handler = openForHelper(ZMTPSocketType.REP);
        zmq.bind(handler, ZAP);
        helpers.start("libzmq ZAP handler", () -> {
            try {
                answer(handler, decider);
            } finally {
                zmq.close(handler);
            }
        });
    }

    private void answer(Pointer handler, ZapDecider decider) {
        for (List<byte[]> request = frames(handler); request != null; request = frames(handler)) {
            List<byte[]> reply = ZapRequest.answer(request, decider);
            for (int i = 0, last = reply.size() - 1; i <= last; i++) {
                zmq.send(handler, reply.get(i), i < last ? LibZmq.SNDMORE : 0);
            }
        }
    }

    @Override
    public int zapProxy() {
        return proxy(ZAP);
    }

    @Override
    public int proxy(String endpoint) {
        Pointer front = openForHelper(ZMTPSocketType.ROUTER);
        Pointer back = openForHelper(ZMTPSocketType.DEALER);
        int port = Endpoints.port(bind(front, ANY_PORT));
        zmq.connect(back, endpoint);
        helpers.start("libzmq proxy", () -> {
            try {
                zmq.proxy(front, back);
            } finally {
                zmq.close(front);
                zmq.close(back);
            }
        });
        return port;
    }

    @Override
    public void close() {
        sockets.forEach(zmq::close);
        zmq.terminate(context); // returns when the helpers have closed their sockets
        helpers.join();
    }

    private final class Socket implements PeerSocket {

        private final Pointer socket;
        private final Pointer monitor;

        private final ZMTPSocketType type;

        Socket(ZMTPSocketType type) {
            this.type = type;
            socket = open(type);
            String events = "inproc://events-" + sockets.size();
            zmq.monitor(socket, events, EVENTS);
            monitor = open(ZMTPSocketType.PAIR);
            zmq.connect(monitor, events);
        }

        @Override
        public void identity(String identity) {
            zmq.set(socket, LibZmq.ROUTING_ID, identity);
        }

        @Override
        public void heartbeat(Duration interval, Duration timeout, Duration ttl) {
            zmq.set(socket, LibZmq.HEARTBEAT_IVL, (int) interval.toMillis());
            zmq.set(socket, LibZmq.HEARTBEAT_TIMEOUT, (int) timeout.toMillis());
            zmq.set(socket, LibZmq.HEARTBEAT_TTL, (int) ttl.toMillis());
        }

        @Override
        public void handshakeInterval(Duration interval) {
            zmq.set(socket, LibZmq.HANDSHAKE_IVL, (int) interval.toMillis());
        }

        @Override
        public void queues(int sent, int received) {
            zmq.set(socket, LibZmq.SNDHWM, sent);
            zmq.set(socket, LibZmq.RCVHWM, received);
        }

        @Override
        public void plainClient(String user, String password) {
            zmq.set(socket, LibZmq.PLAIN_USERNAME, user);
            zmq.set(socket, LibZmq.PLAIN_PASSWORD, password);
        }

        @Override
        public void plainServer(String domain) {
            zmq.set(socket, LibZmq.PLAIN_SERVER, 1);
            zmq.set(socket, LibZmq.ZAP_DOMAIN, domain);
        }

        @Override
        public void curveClient(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
            requireCurve();
            zmq.set(socket, LibZmq.CURVE_SERVERKEY, server.bytes());
            zmq.set(socket, LibZmq.CURVE_PUBLICKEY, own.publicKey().bytes());
            zmq.set(socket, LibZmq.CURVE_SECRETKEY, own.secretKey());
        }

        @Override
        public void curveServer(ZMTPCurveKeyPair own, String domain) {
            requireCurve();
            zmq.set(socket, LibZmq.CURVE_SERVER, 1);
            zmq.set(socket, LibZmq.CURVE_SECRETKEY, own.secretKey());
            zmq.set(socket, LibZmq.ZAP_DOMAIN, domain);
        }

        private void requireCurve() {
            if (!zmq.has("curve")) {
                throw new AssertionError("libzmq: built without CURVE (expected: with it, as in Debian's libzmq5)");
            }
        }

        @Override
        public void correlate() {
            zmq.set(socket, LibZmq.REQ_CORRELATE, 1);
        }

        @Override
        public void probeRouter() {
            zmq.set(socket, LibZmq.PROBE_ROUTER, 1);
        }

        @Override
        public void zapHandler(ZapDecider decider) {
            LibZmqPeer.this.zapHandler(decider);
        }

        @Override
        public void subscribe(String topic) {
            request(LibZmq.SUBSCRIBE, topic);
        }

        @Override
        public void unsubscribe(String topic) {
            request(LibZmq.UNSUBSCRIBE, topic);
        }

        private void request(int option, String topic) {
            if (type == ZMTPSocketType.XSUB) {
                send(Messages.rawSubscription(option == LibZmq.SUBSCRIBE, topic));
            } else {
                zmq.set(socket, option, topic);
            }
        }

        @Override
        public void wholeMessagesUpstream() {
            zmq.set(socket, LibZmq.ONLY_FIRST_SUBSCRIBE, 1);
        }

        @Override
        public String bind(String endpoint) {
            return LibZmqPeer.this.bind(socket, endpoint);
        }

        @Override
        public void connect(String endpoint) {
            zmq.connect(socket, endpoint);
        }

        @Override
        public void send(ZMTPMessage message) {
            List<byte[]> frames = Messages.frames(message);
            for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                zmq.send(socket, frames.get(i), i < last ? LibZmq.SNDMORE : 0);
            }
        }

        @Override
        public boolean send(ZMTPMessage message, Duration wait) {
            zmq.set(socket, LibZmq.SNDTIMEO, (int) wait.toMillis());
            List<byte[]> frames = Messages.frames(message);
            for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                // Once the first frame was taken, the others are, or are dropped with it.
                if (!zmq.trySend(socket, frames.get(i), i < last ? LibZmq.SNDMORE : 0) && i == 0) {
                    return false;
                }
            }
            return true;
        }

        @Override
        public @Nullable ZMTPMessage receive(Duration wait) {
            zmq.set(socket, LibZmq.RCVTIMEO, (int) wait.toMillis());
            List<byte[]> frames = frames(socket);
            return frames == null ? null : Messages.of(frames);
        }

        @Override
        public void pump() {
            zmq.getInt(socket, LibZmq.EVENTS);
        }

        @Override
        public PeerEvent event() {
            zmq.set(monitor, LibZmq.RCVTIMEO, (int) Patience.LIMIT.toMillis());
            List<byte[]> frames = frames(monitor);
            if (frames == null) {
                throw new AssertionError("event of libzmq's monitor: none (expected: one)");
            }
            ByteBuffer event = ByteBuffer.wrap(frames.get(0)).order(ByteOrder.nativeOrder());
            int what = event.getShort() & 0xffff;
            int value = event.getInt();
            return switch (what) {
                case LibZmq.EVENT_HANDSHAKE_SUCCEEDED -> PeerEvent.of(PeerEvent.Kind.SUCCEEDED);
                case LibZmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL -> PeerEvent.of(PeerEvent.Kind.FAILED);
                case LibZmq.EVENT_HANDSHAKE_FAILED_PROTOCOL -> PeerEvent.of(PeerEvent.Kind.FAILED_PROTOCOL);
                case LibZmq.EVENT_HANDSHAKE_FAILED_AUTH -> PeerEvent.refused(value);
                case LibZmq.EVENT_DISCONNECTED -> PeerEvent.of(PeerEvent.Kind.DISCONNECTED);
                default -> throw new AssertionError("event: " + what + " (expected: one that was asked for)");
            };
        }
    }
}
