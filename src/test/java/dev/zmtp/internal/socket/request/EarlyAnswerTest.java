package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.socket.ZMTPSocketException.Reason.OUTCOME_UNKNOWN;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import dev.zmtp.testing.WriteGate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A peer answers a REQ before it has read the whole request. Nothing may leak, which the leak check sees. */
@Tag("netty-4.2-only")
class EarlyAnswerTest {

    private static final String ENDPOINT = "test://early";

    @Test
    void isReleasedIfTheRequestHasFailedAndAnotherIsSent() {
        ZMTPTestLoop loop = ZMTPTestLoop.create();
        ZMTPTestPeer rep = ZMTPTestPeer.bind(loop, ENDPOINT, REP);
        WriteGate gate = new WriteGate();
        ZMTPSocket req =
                loop.open(ZMTPSocketConfig.builder(REQ).linger(Duration.ZERO).pipelineInitializer(gate));
        req.connect(ENDPOINT);
        loop.run();
        gate.close();
        CompletableFuture<Void> sent = req.sendAsync(message("request"));
        loop.run();
        rep.send("", "early");
        loop.run();
        assertThat(sent).isNotDone();
        rep.close();
        loop.run();
        assertThat(reason(sent)).isEqualTo(OUTCOME_UNKNOWN);

        CompletableFuture<Void> next = req.sendAsync(message("next"));
        loop.run();

        assertThat(next).as("it is the turn to send").isNotDone();
        loop.close();
    }
}
