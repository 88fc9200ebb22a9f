package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalAddress;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Peers of ZMTP 3.0: those that answer PINGs get them, and those that hang up get no second one. */
class PingsTest {

    private static final Duration INTERVAL = Duration.ofMillis(100);

    private static final ZMTPConfig CONFIG = ZMTPConfig.builder()
            .socketType(PUSH)
            .heartbeatInterval(INTERVAL)
            .heartbeatTimeout(INTERVAL.multipliedBy(2))
            .heartbeatZMTP30Peers(true)
            .build();

    private static final String PULL_OF_30 = """
            ff 00*7 01 7f / 03 00 / "NULL" 00*16 / 00 / 00*31
            04 1a / 05 "READY" 0b "Socket-Type" 00 00 00 04 "PULL"
            """;

    private static final int GREETING = 64;

    private final Pings pings = new Pings();

    private void hangUp(Object peerKey, ZMTPVersion version, long nanos) {
        pings.connection(peerKey, CONFIG).hungUp(version, false, nanos);
    }

    @Test
    void aPeerOf30ThatHangsUpOnItsFirstPingIsNotAskedAgain() {
        hangUp("there", ZMTP30, INTERVAL.toNanos() + 1);

        assertThat(pings.config("there", CONFIG).heartbeatZMTP30Peers()).isFalse();
        assertThat(pings.config("elsewhere", CONFIG).heartbeatZMTP30Peers()).isTrue();
    }

    @Test
    void aPeerThatLeavesBeforeItsFirstPingIsAskedAgain() {
        hangUp("there", ZMTP30, INTERVAL.toNanos() - 1);

        assertThat(pings.config("there", CONFIG).heartbeatZMTP30Peers()).isTrue();
    }

    @Test
    void aPeerThatLeavesLongAfterItsFirstPingIsAskedAgain() {
        hangUp("there", ZMTP30, INTERVAL.toNanos() + TimeUnit.SECONDS.toNanos(5));

        assertThat(pings.config("there", CONFIG).heartbeatZMTP30Peers()).isTrue();
    }

    @Test
    void aPeerThatHangsUpInTheMomentOfItsFirstPingIsNotAskedAgain() {
        hangUp("there", ZMTP30, INTERVAL.toNanos());

        assertThat(pings.config("there", CONFIG).heartbeatZMTP30Peers()).isFalse();
    }

    @Test
    void aPeerThatIsNotAskedIsNotRememberedEither() {
        ZMTPConfig notAsking = CONFIG.toBuilder().heartbeatZMTP30Peers(false).build();

        pings.connection("there", notAsking).hungUp(ZMTP30, false, INTERVAL.toNanos() + 1);

        assertThat(pings.config("there", CONFIG)).isSameAs(CONFIG);
        assertThat(pings.config("there", notAsking)).isSameAs(notAsking);
    }

    /** An endpoint can have others than its socket. */
    @Test
    void theIntervalOfTheConnectionCounts() {
        Duration interval = INTERVAL.multipliedBy(100);
        ZMTPConfig other = CONFIG.toBuilder()
                .heartbeatInterval(interval)
                .heartbeatTimeout(interval.multipliedBy(2))
                .build();
        pings.connection("there", other).hungUp(ZMTP30, false, interval.toNanos() + 1);

        assertThat(pings.config("there", other).heartbeatZMTP30Peers()).isFalse();
    }

    @Test
    void aPeerThatMustSpeak30IsNotAskedAgainEither() {
        ZMTPConfig only30 = CONFIG.toBuilder().protocol(ZMTP30).build();
        hangUp("there", ZMTP30, INTERVAL.toNanos() + 1);

        ZMTPConfig silent = pings.config("there", only30);

        assertThat(silent.heartbeatZMTP30Peers()).isFalse();
        assertThat(silent.protocol()).isEqualTo(ZMTP30);
    }

    /** The port differs each time. */
    @Test
    void thePlaceOfAPeerOnANetworkIsItsHost() throws IOException {
        InetAddress host = InetAddress.getByAddress(new byte[] {10, 1, 2, 3});

        assertThat(keyOf(new InetSocketAddress(host, 1234))).isEqualTo(host);
    }

    @Test
    void thePlaceOfAnyOtherPeerIsItsAddress() {
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("host", 1234);
        LocalAddress local = new LocalAddress("here");

        assertThat(keyOf(unresolved)).isSameAs(unresolved);
        assertThat(keyOf(local)).isSameAs(local);
    }

    @Test
    void peersWithoutAnAddressAreInOnePlace() {
        assertThat(keyOf(null)).isEqualTo("unknown");
    }

    /** The place of a peer whose connection has this address. */
    private static Object keyOf(SocketAddress address) {
        EmbeddedChannel accepted = new EmbeddedChannel() {
            @Override
            public SocketAddress remoteAddress() {
                return address;
            }
        };
        try {
            return Pings.keyOf(accepted);
        } finally {
            accepted.close();
        }
    }

    @Test
    void aPeerOf31IsAlwaysAsked() {
        hangUp("there", ZMTP31, INTERVAL.toNanos() + 1);

        assertThat(pings.config("there", CONFIG)).isSameAs(CONFIG);
    }

    @Test
    void strangersCannotMakeItRememberWithoutBound() {
        for (int i = 0; i <= 1_024; i++) {
            hangUp(i, ZMTP30, INTERVAL.toNanos() + 1);
        }

        assertThat(pings.config(0, CONFIG).heartbeatZMTP30Peers())
                .as("the eldest")
                .isTrue();
        assertThat(pings.config(1, CONFIG).heartbeatZMTP30Peers())
                .as("the next")
                .isFalse();
    }

    @Test
    void aPeerThatHangsUpOnAPingHasPeaceAfterTheReconnect() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestSockets sockets = new TestSockets()) {
            server.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
            ZMTPSocket push = sockets.open(
                    ZMTPSocketConfig.builder(CONFIG).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
            push.connect("tcp://127.0.0.1:" + server.getLocalPort());

            try (Socket first = accept(server)) {
                assertThat(nextFrame(first.getInputStream())).startsWith(flagsOfACommand());
            }
            try (Socket second = accept(server)) {
                sockets.group()
                        .schedule(
                                () -> push.sendOrDrop(message("late")), 5 * INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
                assertThat(nextFrame(second.getInputStream())).isEqualTo(Hex.bytes("00 04 \"late\""));
            }
        }
    }

    /** It leaves for another reason. */
    @Test
    void aPeerThatHasAnsweredAPingGetsPingsAfterTheReconnect() throws IOException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestSockets sockets = new TestSockets()) {
            server.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
            ZMTPSocket push = sockets.open(
                    ZMTPSocketConfig.builder(CONFIG).reconnectDelay(Duration.ofMillis(1), Duration.ofMillis(1)));
            push.connect("tcp://127.0.0.1:" + server.getLocalPort());

            try (Socket first = accept(server)) {
                for (int i = 0; i < 2; i++) { // the second PING comes after the answer to the first
                    byte[] ping = nextFrame(first.getInputStream());
                    byte[] context = Arrays.copyOfRange(ping, 9, ping.length);
                    first.getOutputStream().write(new byte[] {4, (byte) (5 + context.length), 4, 'P', 'O', 'N', 'G'});
                    first.getOutputStream().write(context);
                }
            }
            try (Socket second = accept(server)) {
                assertThat(nextFrame(second.getInputStream())).startsWith(flagsOfACommand());
            }
        }
    }

    private static byte[] flagsOfACommand() {
        return Hex.bytes("04");
    }

    /** Accepts a connection, and ends its handshake. */
    private static Socket accept(ServerSocket server) throws IOException {
        Socket accepted = server.accept();
        accepted.setSoTimeout((int) TestSockets.PATIENCE.toMillis());
        accepted.getOutputStream().write(Hex.bytes(PULL_OF_30));
        accepted.getInputStream().skipNBytes(GREETING);
        nextFrame(accepted.getInputStream()); // READY
        return accepted;
    }

    /** Another connection has its name. Its own PINGs are not answered, because it is not read. */
    @Test
    void aPeerThatWaitsForItsNameGetsPings(TestSockets sockets) throws InterruptedException {
        Duration interval = Duration.ofMillis(200);
        Consumer<ZMTPConfig.Builder> beats =
                codec -> codec.heartbeatInterval(interval).heartbeatTimeout(interval.multipliedBy(2));
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).codec(beats));
        String endpoint = TestSockets.bind(router, "tcp://127.0.0.1:*");
        ZMTPSocket first = sockets.open(sockets.builder(DEALER).codec(codec -> codec.localIdentity("A")));
        TestSockets.connect(first, endpoint);
        ZMTPPeer its = TestSockets.peer(router);
        its.pauseReading();
        TestSockets.settle(router);
        ZMTPSocket second = sockets.open(sockets.builder(DEALER).codec(beats).codec(codec -> codec.localIdentity("A")));
        TestSockets.connect(second, endpoint);
        TestSockets.get(second.sendAsync(message("of the second")));

        Thread.sleep(interval.multipliedBy(6).toMillis());
        TestSockets.get(first.closeAsync(Duration.ZERO));
        its.resumeReading();

        assertThat(TestSockets.receive(router)).containsExactly("A", "of the second");
        assertThat(second.stats().connects()).isOne();
    }

    /** Reads a short frame, with its header. */
    private static byte[] nextFrame(InputStream in) throws IOException {
        byte[] header = in.readNBytes(2);
        byte[] frame = new byte[2 + header[1]];
        System.arraycopy(header, 0, frame, 0, 2);
        System.arraycopy(in.readNBytes(header[1]), 0, frame, 2, header[1]);
        return frame;
    }

    @ParameterizedTest
    @EnumSource(names = {"ZMTP30", "ZMTP31"})
    void aSocketCanSpeakEachVersionWithItsDefaults(ZMTPVersion version, TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).codec(codec -> codec.protocol(version)));
        TestSockets.connect(push, TestSockets.bind(pull, "tcp://127.0.0.1:*"));

        TestSockets.get(push.sendAsync(message("m")));

        assertThat(TestSockets.receive(pull)).containsExactly("m");
    }
}
