package dev.zmtp.interop;

import com.sun.jna.Pointer;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** libzmq, which speaks ZMTP 3.1 since version 4.3.3. */
final class LibZmqPeer implements Peer {

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

    private static final int ENDS = LibZmq.EVENT_DISCONNECTED
            | LibZmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
            | LibZmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
            | LibZmq.EVENT_HANDSHAKE_FAILED_AUTH;

    private final LibZmq zmq;
    private final Pointer context;
    private final List<Pointer> sockets = new ArrayList<>();

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
        Pointer socket = zmq.socket(context, TYPES.indexOf(type));
        sockets.add(socket);
        zmq.set(socket, LibZmq.LINGER, 0);
        zmq.set(socket, LibZmq.SNDTIMEO, (int) Patience.LIMIT.toMillis());
        return socket;
    }

    @Override
    public void close() {
        sockets.forEach(zmq::close);
        zmq.terminate(context);
    }

    private final class Socket implements PeerSocket {

        private final Pointer socket;
        private final Pointer monitor;

        Socket(ZMTPSocketType type) {
            socket = open(type);
            String ends = "inproc://ends-" + sockets.size();
            zmq.monitor(socket, ends, ENDS);
            monitor = open(ZMTPSocketType.PAIR);
            zmq.connect(monitor, ends);
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
        public void subscribe(String topic) {
            zmq.set(socket, LibZmq.SUBSCRIBE, topic);
        }

        @Override
        public void unsubscribe(String topic) {
            zmq.set(socket, LibZmq.UNSUBSCRIBE, topic);
        }

        @Override
        public int bind() {
            zmq.bind(socket, "tcp://127.0.0.1:*");
            String endpoint = zmq.getString(socket, LibZmq.LAST_ENDPOINT);
            return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        }

        @Override
        public void connect(int port) {
            zmq.connect(socket, "tcp://127.0.0.1:" + port);
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
            return receive(socket, wait);
        }

        private @Nullable ZMTPMessage receive(Pointer from, Duration wait) {
            zmq.set(from, LibZmq.RCVTIMEO, (int) wait.toMillis());
            List<byte[]> frames = new ArrayList<>();
            boolean more = true;
            while (more) {
                LibZmq.Frame frame = zmq.receive(from);
                if (frame == null) {
                    return null;
                }
                frames.add(frame.octets());
                more = frame.more();
            }
            return Messages.of(frames);
        }

        @Override
        public void pump() {
            zmq.getInt(socket, LibZmq.EVENTS);
        }

        @Override
        public void awaitEnd() {
            if (receive(monitor, Patience.LIMIT) == null) {
                throw new AssertionError("end of libzmq's connection: none (expected: one)");
            }
        }
    }
}
