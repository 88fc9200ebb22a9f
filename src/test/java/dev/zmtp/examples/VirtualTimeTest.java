package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.test.ZMTPTestPeer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A timeout that is tested without waiting for it. */
@Tag("netty-4.2-only")
@Tag("T94")
class VirtualTimeTest {

    @AutoClose
    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @Test
    void aRequestWithoutAReplyTimesOut() {
        ZMTPTestPeer server = ZMTPTestPeer.bind(loop, "test://prices", ROUTER);
        ZMTPSocket client = loop.open(ZMTPSocketConfig.builder(REQ));
        client.connect("test://prices");

        CompletableFuture<ZMTPMessage> price =
                client.requestAsync(ZMTPMessage.fromUTF8("copper"), Duration.ofSeconds(5));

        assertThat(server.receive()).containsExactly("", "copper");
        loop.advance(Duration.ofSeconds(5));
        assertThat(price).isCompletedExceptionally();
    }
}
