package dev.zmtp.interop;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/** JeroMQ, which speaks ZMTP 3.0. */
final class JeroMqPeer implements Peer {

    private static final int END = ZMQ.EVENT_DISCONNECTED | ZMQ.HANDSHAKE_FAILED_PROTOCOL;

    private final ZContext context = new ZContext();

    @Override
    public ZMTPVersion version() {
        return ZMTPVersion.ZMTP30;
    }

    @Override
    public PeerSocket socket(ZMTPSocketType type) {
        ZMQ.Socket socket = context.createSocket(SocketType.valueOf(type.name()));
        socket.setLinger(0);
        socket.setSendTimeOut((int) Patience.LIMIT.toMillis());
        return new Socket(socket);
    }

    @Override
    public void close() {
        context.close();
    }

    private static final class Socket implements PeerSocket {

        private final ZMQ.Socket socket;
        private final BlockingQueue<ZEvent> ends = new LinkedBlockingQueue<>();

        Socket(ZMQ.Socket socket) {
            this.socket = socket;
            socket.setEventHook(ends::add, END);
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
        public void subscribe(String topic) {
            check(socket.subscribe(topic));
        }

        @Override
        public void unsubscribe(String topic) {
            check(socket.unsubscribe(topic));
        }

        @Override
        public int bind() {
            check(socket.bind("tcp://127.0.0.1:*"));
            String endpoint = socket.getLastEndpoint();
            return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        }

        @Override
        public void connect(int port) {
            check(socket.connect("tcp://127.0.0.1:" + port));
        }

        @Override
        public void send(ZMTPMessage message) {
            List<byte[]> frames = Messages.frames(message);
            for (int i = 0, last = frames.size() - 1; i <= last; i++) {
                check(socket.send(frames.get(i), i < last ? ZMQ.SNDMORE : 0));
            }
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
            List<byte[]> frames = new ArrayList<>();
            do {
                byte[] frame = socket.recv();
                if (frame == null) {
                    return null;
                }
                frames.add(frame);
            } while (socket.hasReceiveMore());
            return Messages.of(frames);
        }

        @Override
        public void pump() {
            socket.getEvents();
        }

        @Override
        public void awaitEnd() {
            try {
                if (ends.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS) == null) {
                    throw new AssertionError("end of JeroMQ's connection: none (expected: one)");
                }
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }

        private void check(boolean done) {
            if (!done) {
                throw new AssertionError("JeroMQ: errno " + socket.errno() + " (expected: success)");
            }
        }
    }
}
