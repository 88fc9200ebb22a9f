package dev.zmtp.cli;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Answers to a peer that does not read. */
@Tag("netty-4.2-only")
class BackpressureTest {

    private static final String ENDPOINT = "test://echo";
    private static final int MESSAGES = 1_000;
    private static final String BODY = "x".repeat(200);

    @AutoClose
    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    /** Opens a router that returns each message, and a peer that sends many messages at a time and reads none. */
    private ZMTPTestPeer peerOfEcho() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(10, 1 << 20));
        Backpressure answers = new Backpressure(router);
        router.onMessage(answers::answer);
        loop.await(router.bind(ENDPOINT).readyFuture());
        ZMTPTestPeer peer = ZMTPTestPeer.connect(loop, ENDPOINT, DEALER);
        peer.stopReading();
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        for (int i = 0; i < MESSAGES; i++) {
            messages.write(0); // flags
            messages.write(BODY.length());
            messages.writeBytes(BODY.getBytes(StandardCharsets.US_ASCII));
        }
        peer.raw(messages.toByteArray());
        return peer;
    }

    @Test
    void noAnswerIsLostWhileAPeerDoesNotRead() {
        ZMTPTestPeer peer = peerOfEcho();

        peer.resumeReading();

        for (int i = 0; i < MESSAGES; i++) {
            assertThat(peer.receive()).as("answer %s", i).isEqualTo(List.of(BODY));
        }
        assertThat(peer.isEmpty()).isTrue();
    }

    @Test
    void answersThatAPeerHasNotReadAreReleasedWhenItLeaves() {
        ZMTPTestPeer peer = peerOfEcho();

        peer.close();

        assertThat(peer.isClosed()).isTrue(); // and the loop checks that all messages are released
    }
}
