package dev.zmtp.codec.hostile;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.LoopbackServer;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Strangers and lost connections over real sockets: each end is reported once, and the other peers are served. */
class StrangersIT {

    private static final String HANDSHAKE = GREETING + ready("ROUTER");

    private static final ZMTPConfig DEALER =
            ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER).build();

    private static Socket connect(LoopbackServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout((int) LoopbackServer.PATIENCE.toMillis());
        return socket;
    }

    private static void say(Socket socket, String hex) throws IOException {
        socket.getOutputStream().write(Hex.bytes(hex));
    }

    /** Reads until the other side has closed. A socket may report that as a reset if unread bytes were left. */
    private static void hearToTheEnd(Socket socket) throws IOException {
        try {
            socket.getInputStream().readAllBytes();
        } catch (SocketException reset) {
            assertThat(reset).hasMessageContaining("reset");
        }
    }

    private static void reset(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    private static final Object[][] STRANGERS = {
        {"HTTP", "\"GET\" 20 2f 20 \"HTTP\" 2f \"1.1\" 0d0a \"Host:x\" 0d0a0d0a", "MALFORMED"},
        {"TLS", "16 03 01 02 00 01 00 01 fc 03 03 a5*32 20 a5*32 00 02 13 01 01 00", "MALFORMED"},
        {"SSH", "\"SSH-2.0-OpenSSH_9.2\" 0d0a", "MALFORMED"},
        {"SMTP", "\"EHLO\" 20 \"x\" 0d0a", "MALFORMED"},
        {"zeros", "00*5000", "MALFORMED"},
        {"ones", "ff*5000", "MECHANISM"},
        {"another mechanism", SIGNATURE + "03 01 \"CURVE\" 00*15 00*32", "MECHANISM"},
        {"a wrong socket type", GREETING + ready("PUB") + "00 01 61 ".repeat(1000), "SOCKET_TYPE"},
        {"a message before READY", GREETING + "00 01 61", "UNEXPECTED"},
        {"an identity of 2^31", "ff 00*4 80 00*3 00", "TOO_LARGE"},
        {"a READY of 2^40", GREETING + "06 00*2 01 00*5", "TOO_LARGE"}
    };

    @Test
    void strangersAndMutePeersDoNotDisturbOthers() throws IOException {
        try (LoopbackServer server = new LoopbackServer(DEALER);
                Socket honest = connect(server)) {
            server.accept();
            say(honest, HANDSHAKE);
            List<Socket> mute = new ArrayList<>();
            try {
                for (Object[] stranger : STRANGERS) {
                    mute.add(connect(server));
                    LoopbackServer.Accepted deaf = server.accept();
                    try (Socket socket = connect(server)) {
                        say(socket, (String) stranger[1]);
                        hearToTheEnd(socket);
                        assertThat(server.accept().awaitEnd())
                                .as("%s", stranger[0])
                                .containsExactly("refused: " + stranger[2], "closed");
                    }
                    assertEchoed(honest);
                    try (Socket newcomer = connect(server)) {
                        say(newcomer, HANDSHAKE);
                        assertEchoed(newcomer);
                        server.accept();
                    }
                    assertThat(deaf.fired).isEmpty();
                }
            } finally {
                for (Socket socket : mute) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void aReadForWhichThereIsNoMemoryEndsItsConnectionAndItsLoopServesTheOthers() throws Exception {
        FullAllocator memory = new FullAllocator();
        try (LoopbackServer server = new LoopbackServer(DEALER, memory, false, () -> {});
                Socket honest = connect(server);
                Socket unlucky = connect(server)) {
            for (Socket socket : List.of(honest, unlucky)) {
                say(socket, HANDSHAKE);
                assertEchoed(socket);
            }
            List<LoopbackServer.Accepted> ends = List.of(server.accept(), server.accept());
            memory.full = true;
            say(unlucky, "00 01 61");
            hearToTheEnd(unlucky);
            memory.full = false;
            assertEchoed(honest);
            assertThat(server.failures).containsExactly("OutOfMemoryError");
            assertThat(ends).filteredOn(end -> end.fired.contains("closed")).hasSize(1);
        }
    }

    /** One that has left meanwhile is noticed then, too. */
    @Test
    void theNextPeersOfAnAddressThatHasExceededTheBudgetAreServedAfterItsPause() throws Exception {
        // The longest frame fits, but not beside what the peer has told of itself.
        ZMTPConfig small = DEALER.toBuilder()
                .memoryBudget(ZMTPMemoryBudget.of(100_000))
                .maxFrameLength(100_000)
                .build();
        try (LoopbackServer server = new LoopbackServer(small);
                Socket greedy = connect(server)) {
            say(greedy, HANDSHAKE + "02 00*5 01 86 9f 61*99000");
            hearToTheEnd(greedy);
            LoopbackServer.Accepted first = server.accept();
            assertThat(first.awaitEnd()).contains("MEMORY_BUDGET");
            try (Socket gone = connect(server);
                    Socket left = connect(server);
                    Socket honest = connect(server)) {
                say(gone, HANDSHAKE);
                reset(gone);
                left.shutdownOutput();
                say(honest, HANDSHAKE);
                assertEchoed(honest);
                server.accept().awaitEnd();
                server.accept().awaitEnd();
            }
            server.accept().awaitEnd();
        }
    }

    /** Our greeting and READY may stand before the message. */
    private static void assertEchoed(Socket socket) throws IOException {
        byte[] message = Hex.bytes("01 03 \"abc\" / 00 05 \"defgh\"");
        socket.getOutputStream().write(message);
        byte[] heard = new byte[0];
        while (heard.length < message.length
                || !Arrays.equals(heard, heard.length - message.length, heard.length, message, 0, message.length)) {
            int next = socket.getInputStream().read();
            assertThat(next).as("heard %s", heard.length).isNotNegative();
            heard = Arrays.copyOf(heard, heard.length + 1);
            heard[heard.length - 1] = (byte) next;
        }
    }

    /** How a peer ends a connection, and what that is in the handshake and in the middle of a message. */
    private enum Loss {
        /** With a FIN. */
        CLOSE("refused: CLOSED", "CLOSED"),
        /** With a FIN, where the transport is configured to keep such connections. */
        HALF_CLOSE("refused: CLOSED", "CLOSED"),
        /** With an RST. */
        RESET("refused: IOException", "IOException");

        private final String inHandshake;
        private final String inTraffic;

        Loss(String inHandshake, String inTraffic) {
            this.inHandshake = inHandshake;
            this.inTraffic = inTraffic;
        }
    }

    private static final String BETWEEN_MESSAGES = "between two messages";

    static List<Arguments> everyPhaseAndLoss() {
        Object[][] phases = {
            {"before the first byte", "", List.of()},
            {"in the signature", "ff 00*3", List.of()},
            {"behind the signature", SIGNATURE, List.of()},
            {"in the greeting", SIGNATURE + "03 01 \"NU\"", List.of()},
            {"before READY", GREETING, List.of()},
            {"in READY", GREETING + "04 1c 05 \"READ\"", List.of()},
            {"in a 1.0 identity", "03 00 61", List.of()},
            {"in a 2.0 identity", SIGNATURE + "01 06 00 02 61", List.of()},
            {BETWEEN_MESSAGES, HANDSHAKE, List.of("success ZMTP31")},
            {"in a header", HANDSHAKE + "00 01 61 / 02 00*3", List.of("success ZMTP31", "message 61")},
            {"in a frame", HANDSHAKE + "00 01 61 / 02 00*6 10 00 62*99", List.of("success ZMTP31", "message 61")},
            {"in a message", HANDSHAKE + "01 01 61 / 01 00", List.of("success ZMTP31")},
            {"in a command", HANDSHAKE + "04 09 04 \"PI\"", List.of("success ZMTP31")},
            {"in 1.0 traffic", "01 00 / 02 00 61 / 02 01 62", List.of("success ZMTP10", "message 61")},
            {"in 2.0 traffic", SIGNATURE + "01 06 00 00 / 00 02 61", List.of("success ZMTP20")}
        };
        List<Arguments> all = new ArrayList<>();
        for (Object[] phase : phases) {
            for (Loss loss : Loss.values()) {
                all.add(Arguments.of(phase[0], loss, phase[1], phase[2]));
            }
        }
        return all;
    }

    @ParameterizedTest(name = "{1} {0}")
    @MethodSource("everyPhaseAndLoss")
    void theEndOfAConnectionIsReportedOnce(String where, Loss loss, String theirs, List<String> fired)
            throws IOException {
        List<String> expected = new ArrayList<>(fired);
        if (loss == Loss.HALF_CLOSE) {
            expected.add("input shut down");
        }
        boolean clean = where.equals(BETWEEN_MESSAGES) && loss != Loss.RESET;
        if (!clean) {
            expected.add(fired.isEmpty() ? loss.inHandshake : loss.inTraffic);
        }
        expected.add("closed");
        try (LoopbackServer server =
                        new LoopbackServer(DEALER, ByteBufAllocator.DEFAULT, loss == Loss.HALF_CLOSE, () -> {});
                Socket socket = connect(server)) {
            LoopbackServer.Accepted ours = server.accept();
            say(socket, theirs);
            ours.awaitBytes(Hex.bytes(theirs).length);
            if (loss == Loss.RESET) {
                reset(socket);
            } else {
                socket.shutdownOutput();
                hearToTheEnd(socket); // so both directions are closed
            }
            assertThat(ours.awaitEnd()).isEqualTo(expected);
        }
    }
}
