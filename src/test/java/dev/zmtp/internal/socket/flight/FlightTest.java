package dev.zmtp.internal.socket.flight;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.settle;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.security.ZMTPPasswordAuthenticator;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.RoutingIdConflictPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.TestSockets.Events;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the Flight Recorder has of sockets. */
class FlightTest {

    private static final String ENDPOINT = "inproc://recorded";
    private static final List<String> NAMES =
            List.of("Handshake", "Connection", "Request", "Serve", "HandshakeFailure", "Retry", "SlowPeer", "Dropped");

    private final Recording recording = new Recording();

    @TempDir
    private Path directory;

    private void start() {
        NAMES.forEach(name -> recording.enable("dev.zmtp." + name).withoutThreshold());
        recording.start();
    }

    @AfterEach
    void close() {
        recording.close();
    }

    /** Ends the recording and returns its file. */
    private Path stop() throws IOException {
        recording.stop();
        Path file = directory.resolve("recording.jfr");
        recording.dump(file);
        return file;
    }

    /** Returns the events with this name that fit. */
    private static List<RecordedEvent> events(List<RecordedEvent> all, String name, String field, String value) {
        return all.stream()
                .filter(event -> event.getEventType().getName().equals("dev.zmtp." + name))
                .filter(event -> event.getString(field).equals(value))
                .toList();
    }

    /** Returns the only event with this name that fits. */
    private static RecordedEvent event(List<RecordedEvent> all, String name, String field, String value) {
        List<RecordedEvent> found = events(all, name, field, value);
        assertThat(found).as("%s with %s %s among %s", name, field, value, all).hasSize(1);
        return found.get(0);
    }

    private static RecordedEvent event(List<RecordedEvent> all, String name, String type) {
        return event(all, name, "socketType", type);
    }

    @Tag("T84")
    @Test
    void handshakesAndConnectionsHaveTheirPeers(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket push = sockets.open(PUSH);
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = TestSockets.bind(pull, "tcp://127.0.0.1:0");
        TestSockets.connect(push, endpoint);
        get(push.sendAsync(message("job")));
        assertThat(TestSockets.receive(pull)).containsExactly("job");
        get(push.closeAsync(Duration.ofSeconds(5)));
        await("the peer has left", () -> pull.peers().isEmpty());
        settle(pull);

        List<RecordedEvent> all = RecordingFile.readAllEvents(stop());
        RecordedEvent handshake = event(all, "Handshake", "PULL");
        assertThat(handshake.getString("endpoint")).isEqualTo(endpoint);
        assertThat(handshake.getString("address")).startsWith("/127.0.0.1:");
        assertThat(handshake.getString("peerType")).isEqualTo("PUSH");
        assertThat(handshake.getString("version")).isEqualTo("ZMTP31");
        assertThat(handshake.getString("mechanism")).isEqualTo("NULL");
        assertThat(handshake.getBoolean("accepted")).isTrue();
        assertThat(event(all, "Handshake", "PUSH").getBoolean("accepted")).isFalse();
        RecordedEvent connection = event(all, "Connection", "PULL");
        assertThat(connection.getLong("received")).isEqualTo(1);
        assertThat(connection.getString("cause")).contains("ClosedChannelException");
        assertThat(connection.getDuration()).isPositive();
        assertThat(event(all, "Connection", "PUSH").getLong("written")).isEqualTo(1);
    }

    @Test
    void eachConnectionOfAPeerHasItsOwnMessages(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(PUSH);
        Events events = TestSockets.events(push);
        push.connect(TestSockets.bind(pull, "tcp://127.0.0.1:0"));
        for (int i = 0; i < 2; i++) {
            ZMTPSocketEvent.PeerUp up = events.next(ZMTPSocketEvent.PeerUp.class);
            get(push.sendAsync(message("job")));
            assertThat(TestSockets.receive(pull)).containsExactly("job");
            up.peer().close();
            events.next(ZMTPSocketEvent.PeerDown.class);
        }
        settle(push);

        assertThat(events(RecordingFile.readAllEvents(stop()), "Connection", "socketType", "PUSH"))
                .extracting(event -> event.getLong("written"))
                .startsWith(1L, 1L);
    }

    @Test
    void aConnectionWithinTheProcessHasAnAddress(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.bind(pull, ENDPOINT);
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.connect(push, ENDPOINT);
        await("the peer is there", () -> !pull.peers().isEmpty());
        get(push.closeAsync(Duration.ofSeconds(5)));
        await("the peer has left", () -> pull.peers().isEmpty());
        settle(pull);

        List<RecordedEvent> all = RecordingFile.readAllEvents(stop());
        assertThat(event(all, "Connection", "PULL").getString("address"))
                .isNotEqualTo("null")
                .isEqualTo(event(all, "Handshake", "PULL").getString("address"));
    }

    /** Netty puts it into an exception of its own. */
    @Test
    void aFailureOfTlsIsTheCause() {
        assertThat(FlightEvents.causeOf(new DecoderException(new SSLException("no cipher suites in common"))))
                .isEqualTo("javax.net.ssl.SSLException");
    }

    @Test
    void requestsHaveTheirResults(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        CompletableFuture<Void> dropped = new CompletableFuture<>();
        router.serve(request -> {
            if (request.message().frameUTF8(0).equals("drop")) {
                request.drop();
                dropped.complete(null);
            } else {
                request.reply(request.message());
            }
        });
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        get(dealer.requestAsync(message("?"), Duration.ofMinutes(1))).release();
        CompletableFuture<ZMTPMessage> late = dealer.requestAsync(message("drop"), Duration.ofMillis(20));
        TestSockets.failure(late);

        get(dropped);
        settle(dealer);
        settle(router);

        List<RecordedEvent> all = RecordingFile.readAllEvents(stop());
        event(all, "Request", "result", "ok");
        RecordedEvent timeout = event(all, "Request", "result", "timeout");
        assertThat(timeout.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(19));
        event(all, "Serve", "result", "replied");
        event(all, "Serve", "result", "dropped");
    }

    @Test
    void failuresRetriesAndDropsHaveTheirCauses(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket sub = sockets.open(SUB);
        Events ofRouter = TestSockets.events(router);
        Events ofSub = TestSockets.events(sub);
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:0");
        router.sendOrDrop(message("nobody", "order"));
        sub.connect(endpoint);
        ofRouter.next(ZMTPSocketEvent.HandshakeFailed.class);
        ofSub.next(ZMTPSocketEvent.Retrying.class);

        List<RecordedEvent> all = RecordingFile.readAllEvents(stop());
        RecordedEvent failure = event(all, "HandshakeFailure", "ROUTER");
        assertThat(failure.getString("kind")).isEqualTo("incompatible");
        assertThat(failure.getString("cause")).isEqualTo("dev.zmtp.ZMTPException: SOCKET_TYPE");
        RecordedEvent retry = event(all, "Retry", "SUB");
        assertThat(retry.getString("endpoint")).isEqualTo(endpoint);
        assertThat(retry.getInt("attempt")).isEqualTo(1);
        assertThat(retry.getDuration("delay")).isPositive();
        assertThat(event(all, "Dropped", "ROUTER").getString("reason")).isEqualTo("no_peer");
    }

    @Tag("T84")
    @Test
    void noByteOfAMessageAndNoNameOfAUserIsRecorded(TestSockets sockets) throws IOException {
        start();
        ZMTPSocketConfig.Builder server = sockets.builder(PUB)
                .codec(codec -> codec.mechanism(ZMTPPlain.server())
                        .authenticator(ZMTPPasswordAuthenticator.of(Map.of("user-marker", "word-marker"))));
        ZMTPSocket pub = sockets.open(server);
        Events events = TestSockets.events(pub);
        String endpoint = TestSockets.bind(pub, "tcp://127.0.0.1:0");
        ZMTPSocket refused = sockets.open(SUB);
        refused.connect(endpoint, codec -> codec.mechanism(ZMTPPlain.client("user-marker", "wrong-marker")));
        ZMTPSocket sub = sockets.open(SUB);
        sub.subscribe("topic-marker");
        sub.connect(endpoint, codec -> codec.mechanism(ZMTPPlain.client("user-marker", "word-marker")));
        get(pub.whenPeers(1));
        await("the message arrives", () -> {
            pub.sendOrDrop(message("topic-marker", "data-marker"));
            ZMTPMessage received = sub.tryReceive();
            if (received != null) {
                received.release();
            }
            return received != null;
        });
        events.next(ZMTPSocketEvent.HandshakeFailed.class);
        get(sub.closeAsync(Duration.ZERO));
        await("the peer has left", () -> pub.peers().isEmpty());
        settle(pub);

        byte[] bytes = Files.readAllBytes(stop());
        assertThat(new String(bytes, ISO_8859_1))
                .contains("dev.zmtp.Connection")
                .doesNotContain("-marker");
        assertThat(new String(bytes, UTF_16LE)).doesNotContain("-marker");
    }

    @Tag("T84")
    @Test
    void noRoutingIdIsRecorded(TestSockets sockets) throws IOException {
        start();
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER)
                .routingIdConflictPolicy(RoutingIdConflictPolicy.REFUSE)
                .codec(codec -> codec.maxFrameLength(100)));
        Events events = TestSockets.events(router);
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:0");
        ZMTPSocket first = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("id-marker")));
        TestSockets.connect(first, endpoint);
        ZMTPSocket second = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("id-marker")));
        second.connect(endpoint);
        events.next(ZMTPSocketEvent.HandshakeFailed.class);
        get(second.closeAsync(Duration.ZERO));
        first.sendOrDrop(message("x".repeat(200)));
        events.next(ZMTPSocketEvent.PeerDown.class);
        settle(router);

        Path file = stop();
        List<RecordedEvent> all = RecordingFile.readAllEvents(file);
        assertThat(event(all, "Connection", "ROUTER").getString("cause"))
                .isEqualTo("dev.zmtp.ZMTPException: TOO_LARGE");
        event(all, "HandshakeFailure", "ROUTER");
        byte[] bytes = Files.readAllBytes(file);
        assertThat(new String(bytes, ISO_8859_1)).doesNotContain("-marker").doesNotContain("69642d6d61726b6572");
        assertThat(new String(bytes, UTF_16LE)).doesNotContain("-marker").doesNotContain("69642d6d61726b6572");
    }

    @Test
    void nothingIsBegunWithoutARecording() {
        assertThat(Flight.beginHandshake()).isNull();
        assertThat(Flight.beginRequest()).isNull();
        assertThat(Flight.beginServe()).isNull();
    }
}
