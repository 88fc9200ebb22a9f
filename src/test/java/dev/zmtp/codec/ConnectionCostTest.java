package dev.zmtp.codec;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.internal.websocket.ServerUpgrade;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.HeapMeter;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.websocket.ZMTPWebSocket;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the codec of a connection takes on the heap at least, whatever its peer sends. A memory budget does not count
 * that. Limiters of connections bound it, and decision 012 says by how much: if a test fails here, correct that page.
 */
@Tag("heap")
class ConnectionCostTest {

    /** As many as were measured at one time. */
    private static final int CONNECTIONS = 500;

    private static final String HALF_A_REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n";
    private static final String PLAIN_GREETING = SIGNATURE + "03 01 \"PLAIN\" 00*15 00 00*31 ";
    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.generate();
    private static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.generate();

    /** An authenticator that has not decided yet. */
    private static final ZMTPAuthenticator UNDECIDED = request -> new CompletableFuture<>();

    /** What as many channels take without a codec. */
    private static long channels;

    @BeforeAll
    static void measureChannels() {
        channels = HeapMeter.measure(() -> IntStream.range(0, CONNECTIONS)
                .mapToObj(i -> channelWithTimers())
                .toArray());
    }

    /** Each channel here has an event loop of its own, whose queue of timers is not a cost of the codec. */
    private static Channel channelWithTimers() {
        EmbeddedChannel channel = new ScriptedPeer().channel;
        channel.eventLoop().schedule(() -> {}, 0, TimeUnit.NANOSECONDS);
        channel.runPendingTasks();
        return channel;
    }

    /** Returns what the codec of one connection takes that has these settings, and is connected this way. */
    private static long cost(
            UnaryOperator<ZMTPCodec.Builder> settings, Function<ZMTPCodec, EmbeddedChannel> connected) {
        long with = HeapMeter.measure(() -> {
            // The shared budget would keep the connections, which nobody closes here.
            ZMTPCodec.Builder builder =
                    ZMTPCodec.builder().socketType(DEALER).memoryBudget(ZMTPMemoryBudget.of(1 << 30));
            ZMTPConfig config = settings.apply(builder).build().session().config();
            return IntStream.range(0, CONNECTIONS)
                    .mapToObj(i -> connected.apply(ZMTPCodec.from(config)))
                    .toArray();
        });
        return (with - channels) / CONNECTIONS;
    }

    private static Function<ZMTPCodec, EmbeddedChannel> peerThatSends(String hex) {
        return codec -> {
            EmbeddedChannel channel = new ScriptedPeer(codec).send(hex).channel;
            channel.releaseOutbound();
            return channel;
        };
    }

    private static EmbeddedChannel requestBeforeItsEnd(ZMTPCodec codec, String headers) {
        ChannelHandler upgrade = new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                ServerUpgrade.addTo(ch.pipeline(), "/", ZMTPWebSocket.DEFAULT, codec.session());
            }
        };
        return new ScriptedPeer(upgrade, codec)
                .send(ByteBufUtil.hexDump((HALF_A_REQUEST + headers).getBytes(StandardCharsets.US_ASCII)))
                .channel;
    }

    // PLAIN and CURVE

    private static ZMTPCodec.Builder plain(ZMTPCodec.Builder server) {
        return server.mechanism(ZMTPPlain.server()).authenticator(UNDECIDED);
    }

    private static ZMTPCodec.Builder curve(ZMTPCodec.Builder server, ZMTPAuthenticator authenticator) {
        return server.mechanism(ZMTPCurve.server(SERVER))
                .authenticator(authenticator)
                .handshakeExecutor(Runnable::run);
    }

    /** A server whose computations wait for a free thread. */
    private static ZMTPCodec.Builder busyCurve(ZMTPCodec.Builder server) {
        return curve(server, ZMTPAuthenticator.acceptAll()).handshakeExecutor(new ArrayList<Runnable>()::add);
    }

    /** A client of CURVE that does so many steps of its handshake. */
    private static Function<ZMTPCodec, EmbeddedChannel> curveClient(int steps) {
        return codec -> {
            AtomicInteger left = new AtomicInteger(steps);
            Executor executor = step -> {
                if (left.getAndDecrement() > 0) {
                    step.run();
                }
            };
            ZMTPCodec client = ZMTPCodec.builder()
                    .socketType(DEALER)
                    .mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT))
                    .handshakeExecutor(executor)
                    .build();
            CodecPair pair = new CodecPair(client, codec).exchange();
            pair.left.channel.finishAndReleaseAll();
            return pair.right.channel;
        };
    }

    private static Arguments state(
            String name, UnaryOperator<ZMTPCodec.Builder> settings, Function<ZMTPCodec, EmbeddedChannel> connected) {
        return Arguments.of(name, settings, connected);
    }

    static Stream<Arguments> handshakes() {
        String hello = command("05 \"HELLO\" 01 61 01 62");
        return Stream.of(
                state("silent", codec -> codec, peerThatSends("")),
                state("greeted", codec -> codec, peerThatSends(GREETING)),
                state(
                        "NULL, undecided",
                        codec -> codec.authenticator(UNDECIDED),
                        peerThatSends(GREETING + ready("ROUTER"))),
                state("PLAIN, undecided", ConnectionCostTest::plain, peerThatSends(PLAIN_GREETING + hello)),
                state("CURVE, computing", ConnectionCostTest::busyCurve, curveClient(1)),
                state("CURVE, welcomed", codec -> curve(codec, ZMTPAuthenticator.acceptAll()), curveClient(1)),
                state("CURVE, undecided", codec -> curve(codec, UNDECIDED), curveClient(2)));
    }

    /** As many as the handshake limiter lets in, unless it is told otherwise. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("handshakes")
    void theHandshakesOfALimiterTakeEightMebibytes(
            String name, UnaryOperator<ZMTPCodec.Builder> settings, Function<ZMTPCodec, EmbeddedChannel> connected) {
        assertIsEstablished(false, settings, connected);
        assertThat(ZMTPHandshakeLimiter.DEFAULT_MAX_TOTAL * cost(settings, connected))
                .isBetween(4L << 20, 8L << 20);
    }

    /** Netty's codec for HTTP is there beside the codec until the upgrade. */
    @Tag("T140")
    @Test
    void halfARequestOverWebSocketTakesUpToThreeTimesWhatAGreetingTakes() {
        long greeted = cost(codec -> codec, peerThatSends(GREETING));

        assertThat(cost(codec -> codec, codec -> requestBeforeItsEnd(codec, "")))
                .isBetween(greeted, 3 * greeted);
    }

    @Test
    void theLongestHeadTakesUpToFortyKilobytes() {
        String headers = ("a: " + "b".repeat(120) + "\r\n").repeat(62);

        assertThat(cost(codec -> codec, codec -> requestBeforeItsEnd(codec, headers)))
                .isBetween(8_000L, 40_000L);
    }

    static Stream<Arguments> connections() {
        return Stream.of(
                state("NULL", codec -> codec, peerThatSends(GREETING + ready("ROUTER"))),
                state("CURVE", codec -> curve(codec, ZMTPAuthenticator.acceptAll()), curveClient(2)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("connections")
    void tenThousandIdleConnectionsTakeTwentyMegabytesAndFortyEightWithCurve(
            String name, UnaryOperator<ZMTPCodec.Builder> settings, Function<ZMTPCodec, EmbeddedChannel> connected) {
        assertIsEstablished(true, settings, connected);
        long bound = name.equals("CURVE") ? 48_000_000 : 20_000_000;
        assertThat(10_000 * cost(settings, connected)).isBetween(bound / 2, bound);
    }

    /** What is measured is what the name says. */
    private static void assertIsEstablished(
            boolean isEstablished,
            UnaryOperator<ZMTPCodec.Builder> settings,
            Function<ZMTPCodec, EmbeddedChannel> connected) {
        ZMTPCodec codec = settings.apply(ZMTPCodec.builder().socketType(DEALER)).build();
        EmbeddedChannel channel = connected.apply(codec);
        assertThat(codec.session().handshakeFuture().isDone()).isEqualTo(isEstablished);
        channel.finishAndReleaseAll();
    }
}
