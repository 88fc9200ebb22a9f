package dev.zmtp.capture;

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
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.CapturedFile;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.DecoderException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures of sockets, read back. */
@Tag("netty-4.2-only")
class ZMTPCaptureTest {

    private static final int SYN = 0x02;
    private static final int RST_ACK = 0x14;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @TempDir
    private Path folder;

    private Path file;
    private ZMTPCapture capture;

    @BeforeEach
    void open() throws IOException {
        file = folder.resolve("f.pcapng");
        capture = ZMTPCapture.open(file);
    }

    @AfterEach
    void end() throws IOException {
        loop.close();
        capture.close();
    }

    private ZMTPSocketConfig.Builder config(ZMTPSocketType type) {
        return ZMTPSocketConfig.builder(type).capture(capture);
    }

    private CapturedFile read() throws IOException {
        loop.close();
        capture.close();
        return CapturedFile.read(file);
    }

    private ZMTPSocket pull(String endpoint) {
        ZMTPSocket pull = loop.open(config(PULL));
        pull.onMessage((peer, received) -> received.release());
        pull.bind(endpoint);
        return pull;
    }

    private ZMTPSocket push(String endpoint) {
        ZMTPSocket push = loop.open(ZMTPSocketConfig.builder(PUSH));
        push.connect(endpoint);
        loop.run();
        return push;
    }

    @Test
    @Tag("T98")
    void bothDirectionsOfInprocAreCapturedWithTheDelimiterOfAReq() throws IOException {
        ZMTPSocket router = loop.open(config(ROUTER));
        router.serve(request -> request.reply(ZMTPMessage.fromUTF8("Hello, Ada")));
        router.bind("inproc://echo");
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));
        req.connect("inproc://echo");
        CompletableFuture<ZMTPMessage> answer = req.requestAsync(message("Ada"), Duration.ofSeconds(1));
        loop.await(answer).release();

        CapturedFile captured = read();

        assertThat(captured.interfaces).containsExactly("inproc://echo: ROUTER, bound");
        assertThat(captured.stream(true)).endsWith("\1\0\0\3Ada").contains("Socket-Type\0\0\0\3REQ");
        assertThat(captured.stream(false)).endsWith("\1\0\0\12Hello, Ada").contains("Socket-Type\0\0\0\6ROUTER");
        assertThat(captured.comments()).containsExactly("inproc://echo: inproc");
        assertThat(captured.dropped).containsExactly(0L);
    }

    @Test
    void aConnectionIsOneOfTcpWithNumbersThatFollowEachOther() throws IOException {
        pull("test://jobs");
        ZMTPSocket push = push("test://jobs");
        push.sendOrDrop(message("job"));
        loop.run();
        push.closeAsync(Duration.ZERO);
        loop.run();

        CapturedFile captured = read();

        assertThat(captured.packets.stream().map(CapturedFile.Packet::flags).map(Integer::toHexString))
                .containsExactly("2", "12", "10", "18", "18", "18", "18", "18", "11", "11", "10");
        long next = 1;
        for (CapturedFile.Packet packet : captured.packets.subList(2, captured.packets.size() - 1)) {
            if (packet.in()) {
                assertThat(packet.sequence()).isEqualTo(next);
                next += packet.length();
            }
        }
        assertThat(captured.stream(true))
                .startsWith("\u00ff\0\0\0\0\0\0\0\1\u007f\3\1NULL\0")
                .endsWith("\0\3job");
    }

    @Test
    @Tag("T97")
    void noPasswordIsCaptured() throws IOException {
        ZMTPSocket pull = loop.open(config(PULL)
                .codec(codec -> codec.mechanism(ZMTPPlain.server())
                        .authenticator(
                                request -> CompletableFuture.completedStage(ZMTPAuthDecision.accept("the admin")))));
        pull.onMessage((peer, received) -> received.release());
        pull.bind("test://jobs");
        ZMTPSocket push =
                loop.open(config(PUSH).codec(codec -> codec.mechanism(ZMTPPlain.client("admin", "open sesame"))));
        push.connect("test://jobs");
        push.sendOrDrop(message("job"));
        loop.run();

        CapturedFile captured = read();

        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        assertThat(bytes)
                .doesNotContain("open sesame", "HELLO", "WELCOME", "INITIATE")
                .contains("job");
        assertThat(captured.comments())
                .containsExactlyInAnyOrder(
                        "test://jobs: ZMTP31, PLAIN, user \"the admin\"", "test://jobs: ZMTP31, PLAIN");
    }

    /** Their values can be tokens. */
    @Test
    @Tag("T97")
    void propertiesAreCapturedByTheirNames() throws IOException {
        ZMTPSocket pull = loop.open(config(PULL).codec(codec -> codec.property("X-Token", "s3cret of ours")));
        pull.bind("test://jobs");
        ZMTPSocket push = loop.open(
                ZMTPSocketConfig.builder(PUSH).codec(codec -> codec.property("X-Other", "s3cret of the peer")));
        push.connect("test://jobs");
        loop.run();

        CapturedFile captured = read();

        assertThat(Files.readString(file, StandardCharsets.ISO_8859_1)).doesNotContain("s3cret");
        assertThat(captured.stream(true)).contains("X-Other\0\0\0\12[18 bytes]");
        assertThat(captured.stream(false)).contains("X-Token\0\0\0\12[14 bytes]");
    }

    @Test
    void theSideThatLeavesSendsTheFirstFin() throws IOException {
        ZMTPSocket pull = pull("test://jobs");
        push("test://jobs");
        pull.closeAsync(Duration.ZERO);
        loop.run();

        CapturedFile captured = read();

        CapturedFile.Packet first = captured.packets.stream()
                .filter(packet -> packet.flags() == 0x11)
                .findFirst()
                .orElseThrow();
        assertThat(first.in()).isFalse();
    }

    @Test
    void aRefusalWithinTheProcessHasItsCauseAsAComment() throws IOException {
        loop.open(config(PULL)).bind("inproc://jobs");
        loop.open(ZMTPSocketConfig.builder(SUB)).connect("inproc://jobs");
        loop.run();

        CapturedFile captured = read();

        assertThat(captured.packets).extracting(CapturedFile.Packet::flags).startsWith(SYN, RST_ACK);
        assertThat(captured.comments()).first().asString().contains("socket type: SUB");
    }

    /** The codec holds it as well. */
    @Test
    void whatIsWrittenBeforeTheHandshakeFollowsIt() throws IOException {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.pipeline().addLast(ZMTPCodec.of(PUSH), capture.handler("embedded://a"));
        ChannelFuture written = channel.writeAndFlush(message("early"));
        channel.writeInbound(Hex.buffer(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, PULL)));
        assertThat(written.isSuccess()).isTrue();
        channel.finishAndReleaseAll();

        CapturedFile captured = read();

        assertThat(captured.interfaces).containsExactly("embedded://a: PUSH, connected");
        assertThat(captured.stream(false)).endsWith("\0\5early");
    }

    @Test
    void aConnectionInUseIsCapturedFromThenOn() throws IOException {
        EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(PUSH));
        channel.writeInbound(Hex.buffer(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, PULL)));
        channel.pipeline().addLast(capture.handler("embedded://a"));
        channel.writeOutbound(message("late"));
        channel.finishAndReleaseAll();

        assertThat(read().stream(false)).startsWith("\u00ff").endsWith("\0\4late");
    }

    /** The connection must not notice. */
    @Test
    void aMessageThatCannotBeCapturedFailsAsWithoutACapture() throws IOException {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.pipeline().addLast(ZMTPCodec.of(PUSH), capture.handler("embedded://a"));
        channel.writeInbound(Hex.buffer(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, PULL)));
        ByteBuf released = Unpooled.buffer().writeZero(10);
        ByteBuf other = Unpooled.buffer().writeZero(10);
        ZMTPMessage broken = ZMTPMessage.from(released, other);
        released.release();

        ChannelFuture failed = channel.writeAndFlush(broken);
        ChannelFuture next = channel.writeAndFlush(message("next"));

        assertThat(failed.isDone()).isTrue();
        assertThat(failed.isSuccess()).isFalse();
        assertThat(other.refCnt()).isZero();
        assertThat(next.isSuccess()).isTrue();
        channel.finishAndReleaseAll();
        assertThat(read().stream(false)).endsWith("\0\4next");
        assertThat(capture.dropped()).isEqualTo(1);
    }

    @Test
    @Tag("T99")
    void aLongFrameIsSeveralSegments() throws IOException {
        pull("test://jobs");
        String frame = "x".repeat(200_000);
        push("test://jobs").sendOrDrop(ZMTPMessage.fromUTF8("a", frame, "b"));
        loop.run();

        CapturedFile captured = read();

        assertThat(captured.stream(true)).endsWith("\1\1a\3\0\0\0\0\0\3\15\100" + frame + "\0\1b");
        assertThat(captured.packets).allMatch(packet -> packet.length() <= 32_768);
    }

    /** What is not captured is counted in the lengths, so that the numbers still follow each other. */
    @Test
    void onlyTheBeginningOfALongFrameIsCaptured() throws IOException {
        capture.close();
        file = folder.resolve("short.pcapng");
        capture = ZMTPCapture.builder(file).snapLength(10).open();
        pull("test://jobs");
        push("test://jobs").sendOrDrop(ZMTPMessage.fromUTF8("a", "x".repeat(100_000), "b"));
        loop.run();

        CapturedFile captured = read();

        List<CapturedFile.Packet> data = captured.packets.stream()
                .filter(packet -> packet.in() && packet.sequence() > 90 && packet.length() > 0)
                .toList();
        assertThat(data)
                .extracting(CapturedFile.Packet::payload)
                .containsExactly("\1\1a\3\0\0\0\0\0\1\u0086\u00a0" + "x".repeat(10), "", "", "", "\0\1b");
        assertThat(data.stream().mapToInt(CapturedFile.Packet::length).sum()).isEqualTo(3 + 9 + 100_000 + 3);
    }

    @Test
    @Tag("T101")
    void aFailedHandshakeHasItsCauseAsAComment() throws IOException {
        loop.open(config(PULL)).bind("test://jobs");
        ZMTPTestPeer.connect(loop, "test://jobs", SUB);

        CapturedFile captured = read();

        assertThat(captured.packets).extracting(CapturedFile.Packet::flags).containsExactly(SYN, RST_ACK);
        assertThat(captured.comments()).singleElement().asString().contains("socket type: SUB");
    }

    @Test
    void aConnectionThatFailsIsResetWithTheCause() throws IOException {
        loop.open(config(PULL)).bind("test://jobs");
        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, "test://jobs", PUSH);
        peer.raw(new byte[] {(byte) 0x80, 0});

        CapturedFile captured = read();

        assertThat(captured.packets.get(captured.packets.size() - 1).flags()).isEqualTo(RST_ACK);
        assertThat(captured.comments()).last().asString().contains("frame flags: 0x80");
    }

    /** Netty puts it into an exception of its own. */
    @Test
    void aFailureOfTlsHasItsCauseAsAComment() throws IOException {
        EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(PULL), capture.handler("tcp://jobs"));
        channel.pipeline().fireExceptionCaught(new DecoderException(new SSLException("no cipher suites in common")));
        channel.finishAndReleaseAll();

        assertThat(read().comments()).containsExactly("no cipher suites in common");
    }

    @Test
    void subscriptionsAreCaptured() throws IOException {
        ZMTPSocket pub = loop.open(config(PUB));
        pub.bind("test://news");
        ZMTPSocket sub = loop.open(ZMTPSocketConfig.builder(SUB));
        sub.subscribe("weather.");
        sub.connect("test://news");
        loop.run();

        assertThat(read().stream(true)).endsWith("\4\22\11SUBSCRIBEweather.");
    }

    @Test
    @Tag("T102")
    void aFileThatIsThereIsKept() throws IOException {
        assertThatExceptionOfType(FileAlreadyExistsException.class).isThrownBy(() -> ZMTPCapture.open(file));

        ZMTPCapture.builder(file).overwrite(true).open().close();
    }

    @Test
    @Tag("linux")
    void onlyTheOwnerReadsTheFile() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
    }

    @Test
    void aFullFileEndsTheCaptureAndNoConnection() throws IOException {
        capture.close();
        file = folder.resolve("small.pcapng");
        capture = ZMTPCapture.builder(file).maxBytes(64 << 10).open();
        ZMTPSocket pull = pull("test://jobs");
        ZMTPSocket push = push("test://jobs");
        for (int i = 0; i < 100; i++) {
            push.sendOrDrop(message("x".repeat(1_000)));
            loop.run();
        }
        assertThat(pull.stats().received()).isEqualTo(100);

        CapturedFile captured = read();

        assertThat(Files.size(file)).isLessThanOrEqualTo((64 << 10) + 100); // and the statistics
        assertThat(captured.packets).hasSizeBetween(50, 70);
        assertThat(capture.dropped()).isPositive();
        assertThat(capture.packets()).isEqualTo(captured.packets.size());
    }

    @Test
    void theNextFileBeginsAndTheOldestIsDeleted() throws IOException {
        capture.close();
        captureMany(false);

        assertThat(filesOfMany()).containsExactlyInAnyOrder("many.2.pcapng", "many.3.pcapng");
        assertThat(CapturedFile.read(folder.resolve("many.3.pcapng")).interfaces)
                .containsExactly("test://jobs: PULL, bound");
        assertThat(capture.dropped()).isZero();
    }

    @Test
    void theFilesOfAnEarlierCaptureAreReplacedIfThatIsAllowed() throws IOException {
        capture.close();
        for (String other : List.of("many.x.pcapng", "many.1.txt", "many..pcapng", "many-1.pcapng")) {
            Files.createFile(folder.resolve(other));
        }
        captureMany(true);
        captureMany(true);

        assertThat(filesOfMany())
                .containsExactlyInAnyOrder(
                        "many.2.pcapng",
                        "many.3.pcapng",
                        "many.x.pcapng",
                        "many.1.txt",
                        "many..pcapng",
                        "many-1.pcapng");
    }

    private void captureMany(boolean overwrite) throws IOException {
        file = folder.resolve("many.pcapng");
        capture = ZMTPCapture.builder(file)
                .maxBytes(64 << 10)
                .files(2)
                .overwrite(overwrite)
                .open();
        ZMTPSocket pull = pull("test://jobs");
        ZMTPSocket push = push("test://jobs");
        for (int i = 0; i < 200; i++) {
            push.sendOrDrop(message("x".repeat(1_000)));
            loop.run();
        }
        push.closeAsync(Duration.ZERO);
        pull.closeAsync(Duration.ZERO);
        loop.run();
        capture.close();
    }

    private List<String> filesOfMany() throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith("many"))
                    .toList();
        }
    }

    @Test
    void wrongSettingsAreNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCapture.builder(file).maxBytes(1))
                .withMessage("maxBytes: 1 (expected: >= 65536)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCapture.builder(file).files(0))
                .withMessage("files: 0 (expected: >= 1)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCapture.builder(file).snapLength(-1))
                .withMessage("snapLength: -1 (expected: >= 0)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPCapture.builder(file).queueBytes(1))
                .withMessage("queueBytes: 1 (expected: >= 65536)");
    }

    @Test
    void aClosedCaptureLetsConnectionsGoOn() throws IOException {
        ZMTPSocket pull = pull("test://jobs");
        ZMTPSocket push = push("test://jobs");
        capture.close();
        push.sendOrDrop(message("job"));
        loop.run();

        assertThat(pull.stats().received()).isEqualTo(1);
        assertThat(capture.dropped()).isPositive();
    }
}
