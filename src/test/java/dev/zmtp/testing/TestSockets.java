package dev.zmtp.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.endpoint.Connector;
import dev.zmtp.internal.socket.endpoint.Listener;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The sockets of one test, on event loops of their own. At its end all are closed, and so are the loops. A test that
 * wants nothing special has them as a parameter: {@link TestSocketsParameter}.
 */
public final class TestSockets implements AutoCloseable {

    /** Far more than anything takes: only a failing test waits so long. With mutations, many fail. */
    public static final Duration PATIENCE = Duration.ofSeconds(Integer.getInteger("patience.seconds", 30));

    private final EventLoops loops;
    private final List<ZMTPSocket> sockets = new ArrayList<>();

    public TestSockets() {
        this(2);
    }

    public TestSockets(int threads) {
        this(new EventLoops(threads));
    }

    /** Takes over loops of any transport. */
    public TestSockets(EventLoops loops) {
        this.loops = loops;
    }

    public EventLoopGroup group() {
        return loops.group();
    }

    /** A builder for a socket on these loops. */
    public ZMTPSocketConfig.Builder builder(ZMTPSocketType type) {
        return ZMTPSocketConfig.builder(type).group(loops.group());
    }

    public ZMTPSocket open(ZMTPSocketType type) {
        return open(builder(type));
    }

    public ZMTPSocket open(ZMTPSocketConfig.Builder config) {
        ZMTPSocket socket = ZMTPSocket.of(config.group(loops.group()).build());
        sockets.add(socket);
        return socket;
    }

    /** Binds the socket and returns what may be connected to. */
    public static String bind(ZMTPSocket socket, String endpoint) {
        return get(socket.bind(endpoint).readyFuture()).text();
    }

    /** Connects the socket and waits until its peer is there. */
    public static ZMTPPeer connect(ZMTPSocket socket, String endpoint) {
        return peerOf(get(socket.connect(endpoint).readyFuture()));
    }

    /** Returns the peer of what the socket connects to, whether it is there or not. */
    public static ZMTPPeer peerOf(ZMTPEndpoint connected) {
        return Objects.requireNonNull(connected.peer());
    }

    /** Returns a handler that replies with what the future brings, and drops the request if that fails. */
    @SuppressWarnings("ReferenceEquality") // whether it is this very message
    public static Consumer<ZMTPRequest> answering(
            Function<? super ZMTPRequest, ? extends CompletionStage<ZMTPMessage>> answers) {
        return request -> answers.apply(request).whenComplete((answer, failure) -> {
            if (failure == null && answer != null) {
                if (answer == request.message()) { // which was retained
                    answer.release();
                }
                request.reply(answer);
            } else {
                request.drop();
            }
        });
    }

    /** Returns whether the peer is connected. */
    public static boolean isUp(ZMTPPeer peer) {
        return ((Peer) peer).isUp();
    }

    /** Ends what the socket is bound to, and waits until its address is free. */
    public static void unbind(ZMTPEndpoint bound) {
        bound.close();
        get(((Listener) bound).unbound());
    }

    /** Ends what the socket connects to, and returns the future of its end. */
    public static CompletableFuture<Void> disconnect(ZMTPEndpoint connected) {
        connected.close();
        return ((Connector) connected).closed();
    }

    /** Returns the first peer of the socket, which the other side may know of a moment earlier. */
    public static ZMTPPeer peer(ZMTPSocket socket) {
        await("a peer", () -> !socket.peers().isEmpty());
        return socket.peers().iterator().next();
    }

    /** Records what the socket reports from now on. */
    public static Events events(ZMTPSocket socket) {
        Events events = new Events();
        socket.onEvent(Runnable::run, events.all::add);
        return events;
    }

    /** Waits for a message and returns its frames as text; the message is released. */
    public static List<String> receive(ZMTPSocket socket) {
        return frames(get(socket.receiveAsync()));
    }

    /** Returns the frames as text, and releases the message. */
    public static List<String> frames(ZMTPMessage message) {
        try {
            List<String> frames = new ArrayList<>();
            for (int i = 0; i < message.size(); i++) {
                frames.add(message.frame(i).toString(StandardCharsets.UTF_8));
            }
            return frames;
        } finally {
            message.release();
        }
    }

    public static ZMTPMessage message(String... frames) {
        return ZMTPMessage.fromUTF8(frames);
    }

    /** The result of the future, which is awaited with patience. */
    public static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("future: " + future + " (expected: complete within " + PATIENCE + ")", e);
        } catch (ExecutionException e) {
            throw new AssertionError("future: failed (expected: a value)", e.getCause());
        }
    }

    /** The cause of the future's failure, which is awaited with patience. */
    public static Throwable failure(CompletableFuture<?> future) {
        try {
            Object value = future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("future: " + value + " (expected: a failure)");
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("future: " + future + " (expected: complete within " + PATIENCE + ")", e);
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    /** The reason for which the future has failed. */
    public static ZMTPSocketException.Reason reason(CompletableFuture<?> future) {
        Throwable failure = failure(future);
        assertThat(failure).isInstanceOf(ZMTPSocketException.class);
        return ((ZMTPSocketException) failure).reason();
    }

    /** Waits for what another thread brings about, and says what that is if it does not. */
    @SuppressWarnings("ThreadPriorityCheck") // what is awaited may need this core
    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(what + ": not within " + PATIENCE);
            }
            Thread.onSpinWait();
            Thread.yield();
        }
    }

    @Override
    public void close() {
        try {
            sockets.forEach(socket -> get(socket.closeAsync(Duration.ZERO)));
        } finally {
            loops.close();
        }
    }

    /** What a socket has reported, in order. */
    public static final class Events {
        private final BlockingQueue<ZMTPSocketEvent> all = new LinkedBlockingQueue<>();

        /** The next event of the type; those before it are dropped. */
        public <E extends ZMTPSocketEvent> E next(Class<E> type) {
            return next(type, event -> true);
        }

        /**
         * The cause of the next handshake that the socket itself has refused. One of a connection that was reset may
         * come before: JeroMQ resets some, and connects again.
         */
        public Throwable nextRefusal() {
            return next(ZMTPSocketEvent.HandshakeFailed.class, failed -> failed.cause() instanceof ZMTPSocketException)
                    .cause();
        }

        private <E extends ZMTPSocketEvent> E next(Class<E> type, Predicate<? super E> which) {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            try {
                while (true) {
                    ZMTPSocketEvent event = all.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                    if (event == null) {
                        throw new AssertionError("event: none (expected: " + type.getSimpleName() + ")");
                    }
                    if (type.isInstance(event) && which.test(type.cast(event))) {
                        return type.cast(event);
                    }
                }
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
        }

        /** Those that have come so far and were not asked for. */
        public List<ZMTPSocketEvent> drain() {
            List<ZMTPSocketEvent> drained = new ArrayList<>();
            all.drainTo(drained);
            return drained;
        }
    }

    /** Returns when the event loop of the socket has done what it was asked for before. */
    public static void settle(ZMTPSocket socket) {
        get(CompletableFuture.runAsync(() -> {}, socket.eventLoop()));
    }

    /** Keeps the event loop of the socket from taking anything until the latch is open. */
    public static CountDownLatch hold(ZMTPSocket socket) {
        CountDownLatch latch = new CountDownLatch(1);
        CompletableFuture<Void> held = new CompletableFuture<>();
        ClockedSockets.core(socket).context().eventLoop().execute(() -> {
            held.complete(null); // not before: a task that is queued already would take what is sent next
            try {
                Blocking.allow(latch::await);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        get(held);
        return latch;
    }

    /** A port of the loopback address that was free just now. */
    public static int freePort() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return server.getLocalPort();
        }
    }
}
