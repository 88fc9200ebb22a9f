package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketEvent.Connecting;
import dev.zmtp.socket.ZMTPSocketEvent.HandlerFailed;
import dev.zmtp.socket.ZMTPSocketEvent.Listening;
import dev.zmtp.socket.ZMTPSocketEvent.Missed;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a socket reports: in order, without waiting for its listeners, and with all that is known. */
class EventsTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";

    /** T72. */
    @Tag("T72")
    @Test
    void aListenerThatBlocksDelaysNothing() {
        CountDownLatch held = new CountDownLatch(1);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            ZMTPSocket push =
                    sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
            CountDownLatch blocked = new CountDownLatch(1);
            push.onEvent(executor, event -> {
                blocked.countDown();
                awaitUninterruptibly(held);
            });
            ZMTPPeer peer = connect(push, bind(pull, ANY_PORT));
            awaitUninterruptibly(blocked);

            get(push.sendAsync(message("before")));
            assertThat(receive(pull)).containsExactly("before");
            peer.close();
            await(
                    "the peer has left",
                    () -> pull.peers().isEmpty() || !pull.peers().contains(peer));
            get(push.sendAsync(message("after")));
            assertThat(receive(pull)).containsExactly("after");
            get(push.closeAsync(Duration.ZERO));
        } finally {
            held.countDown();
            executor.shutdown();
        }
    }

    /** T72. */
    @Tag("T72")
    @Test
    void whatAListenerIsTooSlowForIsCountedInItsPlace() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(tasks::add, heard::add);
        for (int i = 0; i < 1_030; i++) {
            events.fire(new Connecting("lost", i));
        }
        events.listen(Runnable::run, event -> {});

        run(tasks);
        events.fire(new Listening("later"));
        run(tasks);

        assertThat(heard).hasSize(1_026).startsWith(new Connecting("lost", 0));
        assertThat(heard.subList(1_023, 1_026))
                .containsExactly(new Connecting("lost", 1_023), new Missed(6), new Listening("later"));
    }

    @Test
    void theOverflowComesBeforeTheEventsAfterIt() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        AtomicBoolean first = new AtomicBoolean(true);
        events.listen(tasks::add, event -> {
            heard.add(event);
            if (first.getAndSet(false)) { // there is room for one again
                events.fire(new Listening("later"));
            }
        });
        for (int i = 0; i < 1_030; i++) {
            events.fire(new Connecting("lost", i));
        }

        run(tasks);

        assertThat(heard.subList(1_024, heard.size())).containsExactly(new Missed(6), new Listening("later"));
    }

    private static void run(List<Runnable> tasks) {
        List<Runnable> now = List.copyOf(tasks);
        tasks.clear();
        now.forEach(Runnable::run);
    }

    @Test
    void anExecutorThatRefusesOnceGetsTheEventsWithTheNextOne() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        AtomicBoolean full = new AtomicBoolean(true);
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(
                task -> {
                    if (full.getAndSet(false)) {
                        throw new RejectedExecutionException("of the test");
                    }
                    task.run();
                },
                heard::add);

        events.fire(new Listening("first"));
        events.fire(new Listening("second"));

        assertThat(heard).containsExactly(new Listening("first"), new Listening("second"));
    }

    @Test
    void anExecutorThatFailsHarmsNobody() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(
                task -> {
                    throw new IllegalStateException("of the test");
                },
                event -> {});
        events.listen(Runnable::run, heard::add);

        events.fire(new Listening("here"));

        assertThat(heard).containsExactly(new Listening("here"));
    }

    @Test
    void aListenerThatFailsHearsTheNextEventAndItsFailureIsLogged() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        IllegalStateException thrown = new IllegalStateException("of the test");
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(Runnable::run, event -> {
            heard.add(event);
            throw thrown;
        });

        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.SocketEvents")) {
            events.fire(new Listening("first"));
            events.fire(new Listening("second")); // within the same second

            assertThat(log.traces).containsExactly(thrown);
        }

        assertThat(heard).containsExactly(new Listening("first"), new Listening("second"));
    }

    /** All of them wait when the first is run. */
    @Test
    void oneTaskPassesAllEventsThatWait() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(tasks::add, heard::add);

        events.fire(new Listening("first"));
        events.fire(new Listening("second"));

        assertThat(tasks).hasSize(1);
        run(tasks);
        assertThat(heard).containsExactly(new Listening("first"), new Listening("second"));
        events.fire(new Listening("third"));
        assertThat(tasks).hasSize(1);
    }

    @Test
    void asManyEventsWaitAsMayAndNoneIsMissed() {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        events.listen(tasks::add, heard::add);
        for (int i = 0; i < 1_024; i++) {
            events.fire(new Connecting("there", i));
        }

        run(tasks);

        assertThat(heard).hasSize(1_024).doesNotHaveAnyElementsOfTypes(Missed.class);
    }

    @Test
    void eventsThatWereMissedBeforeItWasClosedAreNotHeardOfEither() throws Exception {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        AutoCloseable listening = events.listen(tasks::add, heard::add);
        for (int i = 0; i < 1_030; i++) {
            events.fire(new Connecting("lost", i));
        }

        listening.close();
        run(tasks);

        assertThat(heard).isEmpty();
    }

    @Test
    void eachEventIsInTheDebugLog() {
        SocketEvents events = new SocketEvents(System::nanoTime);
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.SocketEvents")) {
            events.fire(new Listening("here"));

            assertThat(log.lines).containsExactly(new Listening("here").toString());
        }
    }

    @Test
    void aListenerThatWasClosedHearsNothingMore() throws Exception {
        List<ZMTPSocketEvent> heard = new ArrayList<>();
        List<Runnable> tasks = new ArrayList<>();
        SocketEvents events = new SocketEvents(System::nanoTime);
        AutoCloseable listening = events.listen(tasks::add, heard::add);
        events.fire(new Listening("before"));

        listening.close();
        listening.close();
        events.fire(new Listening("after"));
        run(tasks);

        assertThat(heard).isEmpty();
    }

    /** T73. */
    @Tag("T73")
    @Test
    void eachEventOfAPeerNamesItsEndpointItsAddressAndTheReason(TestSockets sockets) {
        ZMTPSocket router = sockets.open(ROUTER);
        TestSockets.Events ofRouter = events(router);
        String endpoint = bind(router, ANY_PORT);
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("me")));
        TestSockets.Events ofDealer = events(dealer);

        assertThat(ofRouter.next(Listening.class).endpoint()).isEqualTo(endpoint);
        dealer.connect(endpoint);

        Connecting connecting = ofDealer.next(Connecting.class);
        assertThat(connecting).isEqualTo(new Connecting(endpoint, 1));
        ZMTPPeer up = ofRouter.next(ZMTPSocketEvent.PeerUp.class).peer();
        assertThat(up.endpoint().text()).isEqualTo(endpoint);
        assertThat(up.session().peerAddress()).isNotNull();
        assertThat(up.socketType()).isEqualTo(DEALER);
        ZMTPPeer other = ofDealer.next(ZMTPSocketEvent.PeerUp.class).peer();
        assertThat(other.endpoint().text()).isEqualTo(endpoint);
        assertThat(endpoint).endsWith(other.session().peerAddress().toString().replaceAll(".*:", ":"));
        get(dealer.closeAsync(Duration.ZERO));
        ZMTPSocketEvent.PeerDown down = ofRouter.next(ZMTPSocketEvent.PeerDown.class);
        assertThat(down.peer()).isSameAs(up);
        assertThat(down.peer().endpoint().text()).isEqualTo(endpoint);
        assertThat(down.peer().session().peerIdentity())
                .isEqualTo(java.nio.ByteBuffer.wrap("me".getBytes(StandardCharsets.UTF_8)));
        assertThat(down.cause()).isInstanceOf(ClosedChannelException.class);
        ZMTPSocketEvent.PeerDown here = ofDealer.next(ZMTPSocketEvent.PeerDown.class);
        assertThat(here.peer().endpoint().text()).isEqualTo(endpoint);
    }

    /** T73. */
    @Tag("T73")
    @Test
    void eachEventOfAnAttemptNamesTheEndpointAndTheReason(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        TestSockets.Events ofPub = events(pub);
        String endpoint = bind(pub, ANY_PORT);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).reconnectDelay(Duration.ZERO, Duration.ZERO));
        TestSockets.Events ofPush = events(push);

        ZMTPEndpoint connector = push.connect(endpoint);

        for (TestSockets.Events events : List.of(ofPub, ofPush)) {
            ZMTPSocketEvent.HandshakeFailed failed = events.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(failed.endpoint()).isEqualTo(endpoint);
            assertThat(failed.address()).isNotNull();
            assertThat(failed.cause()).hasMessageContaining("socket type");
        }
        ZMTPSocketEvent.Stopped stopped = ofPush.next(ZMTPSocketEvent.Stopped.class);
        assertThat(stopped.endpoint()).isEqualTo(endpoint);
        assertThat(TestSockets.failure(connector.readyFuture()).getCause()).isSameAs(stopped.cause());
        ZMTPSocket other = sockets.open(PUSH);
        TestSockets.Events ofOther = events(other);
        other.connect("tcp://127.0.0.1:1");
        ZMTPSocketEvent.Retrying retry = ofOther.next(ZMTPSocketEvent.Retrying.class);
        assertThat(retry.endpoint()).isEqualTo("tcp://127.0.0.1:1");
        assertThat(retry.attempt()).isEqualTo(1);
        assertThat(retry.delay()).isPositive();
        assertThat(retry.cause()).isInstanceOf(java.net.ConnectException.class);
    }

    /** T73. */
    @Tag("T73")
    @Test
    void aBindingThatEndsIsReportedWithItsPort(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.Events events = events(pull);
        ZMTPEndpoint binding = get(pull.bind(ANY_PORT).readyFuture());

        TestSockets.unbind(binding);

        assertThat(events.next(ZMTPSocketEvent.Stopped.class).endpoint()).isEqualTo(binding.text());
        assertThat(Stream.of(binding.toString(), binding.text())).noneMatch(text -> text.contains("*"));
    }

    @Test
    void aHandlerThatThrowsIsReportedWithThePeerOfTheMessage(TestSockets sockets) {
        IllegalStateException thrown = new IllegalStateException("by the handler");
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.Events events = events(pull);
        pull.onMessage((from, message) -> {
            message.release();
            throw thrown;
        });
        connect(push, bind(pull, "inproc://throws"));

        push.sendOrDrop(message("x"));

        assertThat(events.next(HandlerFailed.class)).isEqualTo(new HandlerFailed(TestSockets.peer(pull), thrown));
    }

    @Test
    void aHandlerOfRequestsThatThrowsIsReportedWithTheAsker(TestSockets sockets) {
        IllegalStateException thrown = new IllegalStateException("by the handler");
        ZMTPSocket rep = sockets.open(REP);
        ZMTPSocket dealer = sockets.open(DEALER);
        TestSockets.Events events = events(rep);
        rep.serve(request -> {
            throw thrown;
        });
        connect(dealer, bind(rep, "inproc://throws"));

        dealer.sendOrDrop(message("", "?"));

        assertThat(events.next(HandlerFailed.class)).isEqualTo(new HandlerFailed(TestSockets.peer(rep), thrown));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
