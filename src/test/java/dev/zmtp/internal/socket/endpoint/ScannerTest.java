package dev.zmtp.internal.socket.endpoint;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.events;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** T68: strangers who do not speak ZMTP, beside good traffic. */
@Tag("T68")
class ScannerTest {

    private static final int STRANGERS = 100;

    static Stream<Arguments> words() {
        return Stream.of(
                Arguments.of("HTTP", "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                Arguments.of("TLS", new byte[] {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xFC, 3, 3}),
                Arguments.of("zeros", new byte[1_000]),
                Arguments.of("nothing", new byte[0]));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("words")
    void strangersDoNotDisturbThoseWhoSpeakZmtp(String what, byte[] bytes, TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        String endpoint = bind(pull, "tcp://127.0.0.1:*");
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        ZMTPSocket push = sockets.open(PUSH);
        connect(push, endpoint);
        await("the good one is there", () -> pull.peers().size() == 1);
        List<Socket> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < STRANGERS; i++) {
                Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port);
                stranger.getOutputStream().write(bytes);
                strangers.add(stranger);
                if (i % 10 == 0) {
                    get(push.sendAsync(message(String.valueOf(i))));
                    assertThat(receive(pull)).containsExactly(String.valueOf(i));
                }
            }
        } finally {
            for (Socket stranger : strangers) {
                stranger.close();
            }
        }
        assertThat(pull.peers()).hasSize(1);
    }

    @Test
    void theyAreReportedOnceASecondWithTheirNumber(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        TestSockets.Events events = events(pull);
        String endpoint = bind(pull, "tcp://127.0.0.1:*");
        int port = Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
        for (int i = 0; i < STRANGERS; i++) {
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
                stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }

        int reports = 0;
        long reported = 0;
        while (reported < STRANGERS) {
            ZMTPSocketEvent.HandshakeFailed failed = events.next(ZMTPSocketEvent.HandshakeFailed.class);
            assertThat(failed.endpoint()).isEqualTo(endpoint);
            reported += 1 + failed.unreported();
            reports++;
        }

        assertThat(reported).isEqualTo(STRANGERS);
        assertThat(reports).isLessThan(STRANGERS / 2);
    }
}
