package dev.zmtp.test;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.CapturedFile;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Recordings of a service that are played against it again. */
@Tag("netty-4.2-only")
class ZMTPReplayTest {

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void name() {
        file = folder.resolve("f.pcapng");
    }

    /** Counts questions, answers each with its number, and publishes it, and the time each minute. */
    private static final class Service {

        final ZMTPSocket router;
        final ZMTPSocket pub;
        private int questions;

        Service(ZMTPTestLoop loop, UnaryOperator<ZMTPSocketConfig.Builder> config) {
            router = loop.open(config.apply(ZMTPSocketConfig.builder(ROUTER)));
            pub = loop.open(config.apply(ZMTPSocketConfig.builder(PUB)));
            router.serve(request -> {
                String text = request.message().frame(0).toString(StandardCharsets.UTF_8);
                questions++;
                request.reply(ZMTPMessage.fromUTF8(questions + " " + text));
                pub.sendOrDrop(message("question " + questions));
            });
            loop.eventLoop()
                    .scheduleAtFixedRate(() -> pub.sendOrDrop(message("time " + loop.time())), 1, 1, TimeUnit.MINUTES);
            router.bind("test://orders");
            pub.bind("test://news");
        }
    }

    /** Otherwise the timers of a service would not agree with the times of the file. */
    @Test
    void aCaptureThatWasOpenedBeforeTheLoopBeginsWithIt() throws IOException {
        try (ZMTPCapture capture = ZMTPCapture.record(file);
                ZMTPTestLoop loop = ZMTPTestLoop.of(1)) {
            assertThat(new Service(loop, builder -> builder.capture(capture))).isNotNull();
            subscriber(loop);
        }

        try (ZMTPRecording recording = ZMTPRecording.open(file)) {
            assertThat(recording.entries().iterator().next().time()).isZero();
        }
    }

    /** Records a service while its peers do something. */
    private void record(UnaryOperator<ZMTPSocketConfig.Builder> config, BiConsumer<ZMTPTestLoop, Service> peers)
            throws IOException {
        try (ZMTPTestLoop loop = ZMTPTestLoop.of(1);
                ZMTPCapture capture = ZMTPCapture.record(file)) {
            peers.accept(
                    loop, new Service(loop, builder -> config.apply(builder).capture(capture)));
            loop.run();
        }
    }

    private static ZMTPSocket connect(ZMTPTestLoop loop, ZMTPSocketConfig.Builder config, String endpoint) {
        ZMTPSocket socket = loop.open(config);
        socket.connect(endpoint);
        loop.advance(Duration.ofSeconds(1));
        return socket;
    }

    private static ZMTPSocket subscriber(ZMTPTestLoop loop) {
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.onMessage((peer, received) -> received.release());
        sub.subscribe("");
        sub.connect("test://news");
        loop.advance(Duration.ofSeconds(1));
        return sub;
    }

    private static void ask(ZMTPTestLoop loop, ZMTPSocket client, String text) {
        loop.await(client.requestAsync(message(text), Duration.ofSeconds(1))).release();
    }

    /** Two clients and a subscriber. */
    private static void questions(ZMTPTestLoop loop, int number) {
        ZMTPSocket req = connect(loop, ZMTPSocketConfig.builder(REQ), "test://orders");
        ZMTPSocket dealer = connect(loop, ZMTPSocketConfig.builder(DEALER), "test://orders");
        subscriber(loop);
        for (int i = 0; i < number; i++) {
            loop.advance(Duration.ofMillis(i % 7));
            ask(loop, i % 3 == 0 ? req : dealer, "question " + i);
        }
    }

    private ZMTPReplay.Report replay(long seed, UnaryOperator<ZMTPSocketConfig.Builder> config) throws IOException {
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.of(seed)) {
            Service service = new Service(loop, config);
            return ZMTPReplay.of(recording, loop).into(service.router, service.pub);
        }
    }

    private ZMTPReplay.Report replay() throws IOException {
        return replay(2, UnaryOperator.identity());
    }

    @Test
    @Tag("T109")
    void aServiceThatAnswersAndPublishesReplaysWithoutADifferenceEachTime() throws IOException {
        assertReplays(334, 90);
        assertReplays(3_334, 10); // ten thousand messages, in many reads of the file
    }

    private void assertReplays(int requests, int times) throws IOException {
        file = folder.resolve(requests + ".pcapng");
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, requests));

        for (int i = 0; i < times; i++) {
            assertThat(replay(i, UnaryOperator.identity()))
                    .isEqualTo(new ZMTPReplay.Report(requests, 2L * requests, null));
        }
    }

    /** Replaces a text in the file by another of the same length. */
    private void change(String from, String to) throws IOException {
        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        assertThat(bytes).contains(from);
        Files.writeString(file, bytes.replaceFirst(from, to), StandardCharsets.ISO_8859_1);
    }

    private static String text(List<byte[]> frames) {
        return String.join(
                ", ",
                frames.stream()
                        .map(frame -> new String(frame, StandardCharsets.UTF_8))
                        .toList());
    }

    @Test
    @Tag("T110")
    void aByteOfAnAnswerThatIsChangedIsTheFirstDifference() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 100));
        change("71 question 70", "71 question 7x");

        ZMTPReplay.Difference first = replay().first();

        assertThat(first).isNotNull();
        assertThat(first.connection()).isEqualTo(2); // the DEALER, which has asked two of three questions
        assertThat(first.message()).isEqualTo(47);
        assertThat(text(first.expected().subList(2, 3))).isEqualTo("71 question 7x");
        assertThat(text(first.actual().subList(2, 3))).isEqualTo("71 question 70");
        assertThat(first).asString().matches("connection 2, message 47: \\[.*70\"] \\(expected: \\[.*7x\"]\\)");
    }

    @Test
    void anAnswerThatIsMissingIsADifference() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            ask(loop, connect(loop, ZMTPSocketConfig.builder(REQ), "test://orders"), "the question");
        });
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            router.onMessage((peer, received) -> received.release());
            router.bind("test://other");

            ZMTPReplay.Report report = ZMTPReplay.of(recording, loop).into(router);

            assertThat(report.received()).isEqualTo(1);
            assertThat(report.sent()).isZero();
            assertThat(report.first()).isNotNull();
            assertThat(report.first().actual()).isEmpty();
            assertThat(text(report.first().expected())).isEqualTo(", 1 the question");
        }
    }

    @Test
    void anAnswerTooManyIsADifference() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            ask(loop, connect(loop, ZMTPSocketConfig.builder(REQ), "test://orders"), "the question");
        });
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            router.onMessage((peer, received) -> {
                received.release();
                peer.sendOrDrop(ZMTPMessage.fromUTF8("", "1 the question"));
                peer.sendOrDrop(ZMTPMessage.fromUTF8("", "and more"));
            });
            router.bind("test://orders");

            ZMTPReplay.Report report = ZMTPReplay.of(recording, loop).into(router);

            assertThat(report.sent()).isEqualTo(2);
            assertThat(report.first())
                    .asString()
                    .isEqualTo("connection 1, message 2: [\"\", \"and more\"] (expected: [])");
        }
    }

    @Test
    @Tag("T111")
    @Timeout(20)
    void anHourIsReplayedInSeconds() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            subscriber(loop);
            loop.advance(Duration.ofHours(1));
        });

        ZMTPReplay.Report report = replay();

        assertThat(report).isEqualTo(new ZMTPReplay.Report(0, 60, null));
    }

    private List<String> bytesOfReplay(long seed) throws IOException {
        Path again = folder.resolve("again." + seed + ".pcapng");
        try (ZMTPCapture capture = ZMTPCapture.record(again)) {
            assertThat(replay(seed, config -> config.capture(capture)).first()).isNull();
        }
        try (ZMTPRecording recording = ZMTPRecording.open(again)) {
            assertThat(recording.isComplete()).isTrue();
            List<String> entries = new ArrayList<>();
            for (ZMTPRecording.Entry entry : recording.entries()) {
                List<String> frames =
                        entry.frames().stream().map(ByteBufUtil::hexDump).toList();
                entries.add(entry.time() + " " + entry.connection() + " " + entry.kind() + " " + frames);
            }
            return entries;
        }
    }

    /** The times are those of the loop. */
    @Test
    @Tag("T112")
    void twoReplaysSendTheSameBytesAtTheSameTimes() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 300));

        List<String> first = bytesOfReplay(1);

        assertThat(first).hasSizeGreaterThan(900);
        assertThat(bytesOfReplay(2)).isEqualTo(first);
    }

    @Test
    @Tag("T113")
    void aRecordingWithDroppedPacketsIsRefused() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            ZMTPSocketConfig.Builder large = ZMTPSocketConfig.builder(DEALER).sendQueueLimit(10, 100 << 20);
            connect(loop, large, "test://orders").sendOrDrop(ZMTPMessage.fromUTF8("", "x".repeat(25 << 20)));
            loop.run();
        });

        assertThatIllegalArgumentException()
                .isThrownBy(this::replay)
                .withMessage("recording: " + file + ", 1602 packets dropped (expected: complete)");
    }

    @Test
    @Tag("T113")
    void aRecordingThatIsCutIsRefused() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 3));
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));

        assertThatIllegalArgumentException()
                .isThrownBy(this::replay)
                .withMessage("recording: " + file + ", cut or with gaps (expected: complete)");
    }

    @Test
    @Tag("T115")
    void aRecordingOfCurveReplaysWithoutKeys() throws IOException {
        ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
        record(
                config -> config.codec(
                        codec -> codec.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll())),
                (loop, service) -> {
                    ZMTPSocketConfig.Builder client = ZMTPSocketConfig.builder(DEALER)
                            .codec(codec ->
                                    codec.mechanism(ZMTPCurve.client(keys.publicKey(), ZMTPCurveKeyPair.generate())));
                    ask(loop, connect(loop, client, "test://orders"), "the question");
                });
        assertThat(CapturedFile.read(file).comments()).containsExactly("test://orders: ZMTP31, CURVE");

        assertThat(replay()).isEqualTo(new ZMTPReplay.Report(1, 1, null));
    }

    /** The recorded endpoint is one of the network. */
    @Test
    void routingIdsAndSubscriptionsAreReplayed() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            ZMTPTestPeer named = ZMTPTestPeer.connect(loop, "test://orders", DEALER, "the peer");
            service.router.sendOrDrop(ZMTPMessage.fromUTF8("the peer", "hello"));
            assertThat(named.receive()).containsExactly("hello");
            ZMTPTestPeer sub = ZMTPTestPeer.connect(loop, "test://news", SUB);
            sub.subscribe("b");
            service.pub.sendOrDrop(message("a"));
            service.pub.sendOrDrop(message("b"));
            loop.run();
        });
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            Service service = new Service(loop, UnaryOperator.identity());
            service.router.onEvent(Runnable::run, event -> {
                if (event instanceof ZMTPSocketEvent.PeerUp) {
                    service.router.sendOrDrop(ZMTPMessage.fromUTF8("the peer", "hello"));
                }
            });
            service.pub.onEverySubscription((peer, subscription) -> {
                service.pub.sendOrDrop(message("a"));
                service.pub.sendOrDrop(message("b"));
            });

            ZMTPReplay.Report report = ZMTPReplay.of(recording, loop).into(service.router, service.pub);

            assertThat(report).isEqualTo(new ZMTPReplay.Report(0, 2, null));
        }
    }

    @Test
    void aSocketThatRefusesARecordedPeerFailsTheReplay() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 1));
        UnaryOperator<ZMTPSocketConfig.Builder> curve =
                config -> config.codec(codec -> codec.mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.generate()))
                        .authenticator(ZMTPAuthenticator.acceptAll()));

        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> replay(1, curve))
                .withMessage("connection 1: refused by the socket (expected: accepted, as recorded)");
    }

    private static void closeAll(Service service) {
        service.router.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerUp up) {
                up.peer().close();
            }
        });
    }

    @Test
    void aPeerThatTheSocketHasEndedAtOnceIsReplayed() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> {
            closeAll(service);
            ZMTPTestPeer.connect(loop, "test://orders", DEALER);
        });
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            assertThat(recording.entries())
                    .extracting(ZMTPRecording.Entry::kind)
                    .containsExactly(ZMTPRecording.Kind.UP, ZMTPRecording.Kind.DOWN);
            Service service = new Service(loop, UnaryOperator.identity());
            closeAll(service);

            assertThat(ZMTPReplay.of(recording, loop).into(service.router))
                    .isEqualTo(new ZMTPReplay.Report(0, 0, null));
        }
    }

    @Test
    void aPeerThatFoundNoRoomIsReplayed() throws IOException {
        record(config -> config.maxPeers(1), (loop, service) -> {
            ZMTPTestPeer.connect(loop, "test://orders", DEALER);
            ZMTPTestPeer.connect(loop, "test://orders", DEALER);
        });

        assertThat(replay(1, config -> config.maxPeers(1))).isEqualTo(new ZMTPReplay.Report(0, 0, null));
    }

    @Test
    void peersOfOtherTypesAreLeftOut() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 3));
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            Service service = new Service(loop, UnaryOperator.identity());

            assertThat(ZMTPReplay.of(recording, loop).into(service.router))
                    .isEqualTo(new ZMTPReplay.Report(3, 3, null));
        }
    }

    @Test
    void wrongSocketsAreNamed() throws IOException {
        record(UnaryOperator.identity(), (loop, service) -> questions(loop, 1));
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPReplay replay = ZMTPReplay.of(recording, loop);
            ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
            pull.bind("test://jobs");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> replay.into(pull))
                    .withMessage("recording: no peer of a socket of [PULL]"
                            + " (expected: a peer that has connected to one)");
            ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
            router.bind("test://a");
            router.bind("test://b");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> replay.into(router))
                    .withMessage("ROUTER of test://orders: bound to [test://a, test://b]"
                            + " (expected: to test://orders, or to a single endpoint of test://)");
            router.bind("test://orders");
            assertThat(replay.into(router).received()).isEqualTo(1);
        }
    }

    private static ZMTPSocket answering(
            ZMTPTestLoop loop, ZMTPSocketConfig.Builder config, String endpoint, String answer) {
        ZMTPSocket router = loop.open(config);
        router.serve(request -> request.reply(message(answer)));
        router.bind(endpoint);
        return router;
    }

    /** The names are those of endpoints of tcp and ipc. */
    @Test
    void recordedEndpointsOfAnyTransportAreToldApartByTheirNames() throws IOException {
        List<String> names = List.of("127.0.0.1:5555", "/run/orders");
        try (ZMTPTestLoop loop = ZMTPTestLoop.create();
                ZMTPCapture capture = ZMTPCapture.record(file)) {
            for (String name : names) {
                ZMTPSocketConfig.Builder config =
                        ZMTPSocketConfig.builder(ROUTER).capture(capture);
                answering(loop, config, "inproc://" + name, "from " + name);
            }
            for (String name : names) {
                ask(loop, connect(loop, ZMTPSocketConfig.builder(REQ), "inproc://" + name), "where from?");
            }
        }
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            assertThat(recording.endpoints()).containsExactly("inproc://127.0.0.1:5555", "inproc:///run/orders");

            ZMTPSocket[] routers = names.stream()
                    .map(name -> answering(loop, ZMTPSocketConfig.builder(ROUTER), "test://" + name, "from " + name))
                    .toArray(ZMTPSocket[]::new);

            assertThat(ZMTPReplay.of(recording, loop).into(routers)).isEqualTo(new ZMTPReplay.Report(2, 2, null));
        }
    }

    /** More than are on the way and compared at once. */
    @Test
    void aBurstOfMessagesIsCompared() throws IOException {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create();
                ZMTPCapture capture = ZMTPCapture.record(file)) {
            burst(loop, ZMTPSocketConfig.builder(PUSH).capture(capture));
            ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
            pull.onMessage((peer, received) -> received.release());
            pull.connect("test://jobs");
            loop.advance(Duration.ofSeconds(1));
        }
        try (ZMTPRecording recording = ZMTPRecording.open(file);
                ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            assertThat(recording.isComplete()).isTrue();

            ZMTPSocket push = burst(loop, ZMTPSocketConfig.builder(PUSH));

            assertThat(ZMTPReplay.of(recording, loop).into(push)).isEqualTo(new ZMTPReplay.Report(0, 25_000, null));
        }
    }

    private static ZMTPSocket burst(ZMTPTestLoop loop, ZMTPSocketConfig.Builder config) {
        ZMTPSocket push = loop.open(config.sendQueueLimit(30_000, 100 << 20));
        push.onEvent(Runnable::run, event -> {
            for (int i = 0; i < 25_000 && event instanceof ZMTPSocketEvent.PeerUp; i++) {
                push.sendOrDrop(message("job " + i));
            }
        });
        push.bind("test://jobs");
        return push;
    }
}
