package dev.zmtp.interop;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPCurvePublicKey;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Our own sockets in the place of another implementation's, by their blocking view. */
final class OurPeer implements PeerContext {

    private final TestSockets sockets;
    private final Consumer<ZMTPSocketConfig.Builder> settings;

    /** With sockets as they are by default. */
    OurPeer() {
        this(new TestSockets(), settings -> {});
    }

    /** All of whose sockets have these settings. */
    OurPeer(TestSockets sockets, Consumer<ZMTPSocketConfig.Builder> settings) {
        this.sockets = sockets;
        this.settings = settings;
    }

    @Override
    public ZMTPVersion version() {
        return ZMTPVersion.ZMTP31;
    }

    @Override
    public Socket socket(ZMTPSocketType type) {
        return new Socket(type);
    }

    @Override
    public void zapHandler(ZapDecider decider) {
        throw new UnsupportedOperationException("zapHandler: our sockets have no ZAP handler");
    }

    @Override
    public int zapProxy() {
        throw new UnsupportedOperationException("zapProxy: our sockets have no ZAP handler");
    }

    @Override
    public void close() {
        sockets.close();
    }

    /** Opened by the first call that is not a setting. */
    final class Socket implements PeerSocket {

        private final ZMTPConfig.Builder codec;
        private int sendLimit = 1_000;
        private int receiveLimit = 1_000;
        private boolean correlates;

        private @Nullable ZMTPSocket socket;
        private final Semaphore room = new Semaphore(0);
        private final BlockingQueue<PeerEvent> events = new LinkedBlockingQueue<>();

        /** What an XPUB has received, where subscriptions are messages as with the others. */
        private final BlockingQueue<ZMTPMessage> ofSubscribers = new LinkedBlockingQueue<>();

        private final Map<String, Deque<ZMTPRegistration>> subscriptions = new HashMap<>();

        Socket(ZMTPSocketType type) {
            codec = ZMTPConfig.builder().socketType(type);
        }

        /** The socket itself, with its settings for good. */
        ZMTPSocket socket() {
            ZMTPSocket open = socket;
            if (open == null) {
                ZMTPSocketConfig.Builder config = ZMTPSocketConfig.builder(codec.build())
                        .sendQueueLimit(sendLimit, Integer.MAX_VALUE)
                        .receiveQueueLimit(receiveLimit, Integer.MAX_VALUE)
                        .correlateRequests(correlates);
                settings.accept(config);
                open = sockets.open(config);
                socket = open;
                open.onEvent(Runnable::run, this::report);
                open.onWritable(room::release);
                if (open.socketType() == ZMTPSocketType.XPUB) {
                    open.onSubscription((peer, request) -> ofSubscribers.add(raw(request)));
                    open.onMessage((peer, message) -> ofSubscribers.add(Messages.heap(message)));
                }
            }
            return open;
        }

        private void set(Consumer<ZMTPConfig.Builder> setting) {
            if (socket != null) {
                throw new IllegalStateException("setting: after the socket was opened (expected: before)");
            }
            setting.accept(codec);
        }

        private void report(ZMTPSocketEvent event) {
            if (event instanceof ZMTPSocketEvent.PeerUp) {
                events.add(PeerEvent.of(PeerEvent.Kind.SUCCEEDED));
            } else if (event instanceof ZMTPSocketEvent.PeerDown) {
                events.add(PeerEvent.of(PeerEvent.Kind.DISCONNECTED));
            } else if (event instanceof ZMTPSocketEvent.HandshakeFailed failed) {
                events.add(PeerEvent.of(kind(failed.cause())));
            }
        }

        private static PeerEvent.Kind kind(Throwable cause) {
            if (cause instanceof ZMTPException e) {
                return switch (e.code()) {
                    case AUTHENTICATION, PEER_ERROR -> PeerEvent.Kind.FAILED_AUTHENTICATION;
                    case MALFORMED, UNEXPECTED, VERSION, MECHANISM, SOCKET_TYPE, TOO_LARGE ->
                        PeerEvent.Kind.FAILED_PROTOCOL;
                    default -> PeerEvent.Kind.FAILED;
                };
            }
            return PeerEvent.Kind.FAILED;
        }

        // Settings

        @Override
        public void identity(String identity) {
            set(config -> config.localIdentity(identity));
        }

        @Override
        public void heartbeat(Duration interval, Duration timeout, Duration ttl) {
            set(config ->
                    config.heartbeatInterval(interval).heartbeatTimeout(timeout).heartbeatTtl(ttl));
        }

        @Override
        public void handshakeInterval(Duration interval) {
            set(config -> config.handshakeTimeout(interval));
        }

        @Override
        public void queues(int sent, int received) {
            set(config -> {
                sendLimit = limit(sent);
                receiveLimit = limit(received);
            });
        }

        private static int limit(int messages) {
            return messages > 0 ? messages : Integer.MAX_VALUE;
        }

        @Override
        public void plainClient(String user, String password) {
            set(config -> config.mechanism(ZMTPPlain.client(user, password)));
        }

        @Override
        public void plainServer(String domain) {
            throw new UnsupportedOperationException("plainServer: our sockets have no ZAP handler");
        }

        @Override
        public void curveClient(ZMTPCurvePublicKey server, ZMTPCurveKeyPair own) {
            set(config -> config.mechanism(ZMTPCurve.client(server, own)));
        }

        @Override
        public void curveServer(ZMTPCurveKeyPair own, String domain) {
            throw new UnsupportedOperationException("curveServer: our sockets have no ZAP handler");
        }

        @Override
        public void correlate() {
            set(config -> correlates = true);
        }

        @Override
        public void zapHandler(ZapDecider decider) {
            OurPeer.this.zapHandler(decider);
        }

        // Use

        @Override
        public void subscribe(String topic) {
            subscriptions.computeIfAbsent(topic, t -> new ArrayDeque<>()).add(socket().subscribe(topic));
        }

        @Override
        public void unsubscribe(String topic) {
            Deque<ZMTPRegistration> its = subscriptions.get(topic);
            if (its == null || its.isEmpty()) {
                throw new AssertionError("topic: " + topic + " (expected: one that was subscribed to)");
            }
            its.remove().close();
        }

        @Override
        public String bind(String endpoint) {
            return TestSockets.bind(socket(), endpoint);
        }

        @Override
        public void connect(String endpoint) {
            socket().connect(endpoint);
        }

        @Override
        public void send(ZMTPMessage message) {
            if (!send(message, Patience.LIMIT)) {
                throw new AssertionError("room for a message: none within " + Patience.LIMIT);
            }
        }

        @Override
        public boolean send(ZMTPMessage message, Duration wait) {
            ZMTPMessage copy = Messages.of(Messages.frames(message));
            long deadline = System.nanoTime() + wait.toNanos();
            try {
                room.drainPermits();
                boolean sent = socket().trySend(copy);
                while (!sent && room.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    sent = socket().trySend(copy);
                }
                return sent;
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }

        @Override
        public @Nullable ZMTPMessage receive(Duration wait) {
            ZMTPSocket open = socket();
            try {
                if (open.socketType() == ZMTPSocketType.XPUB) {
                    return ofSubscribers.poll(wait.toNanos(), TimeUnit.NANOSECONDS);
                }
                ZMTPMessage received = open.receive(wait);
                return received == null ? null : Messages.heap(received);
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }

        private static ZMTPMessage raw(ZMTPSubscription request) {
            return Messages.rawSubscription(
                    request.isSubscribe(), new String(ByteBufUtil.getBytes(request.topic()), StandardCharsets.UTF_8));
        }

        @Override
        public void wholeMessagesUpstream() {
            // They are always whole.
        }

        @Override
        public void pump() {
            // An event loop does all of it.
        }

        @Override
        public PeerEvent event() {
            socket();
            try {
                PeerEvent event = events.poll(Patience.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                if (event == null) {
                    throw new AssertionError("event of our socket: none (expected: one)");
                }
                return event;
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }
    }
}
