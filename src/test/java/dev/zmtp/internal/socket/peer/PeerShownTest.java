package dev.zmtp.internal.socket.peer;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a peer is shown, in logs and by a debugger: where it is, who it is, what it speaks, and what waits for it. */
@Tag("netty-4.2-only")
class PeerShownTest {

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    /** Connects a socket that has this name, and returns its peer. */
    private ZMTPPeer connect(ZMTPSocket router, String endpoint, ByteBuffer name) {
        router.bind(endpoint);
        loop.run();
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).codec(codec -> codec.localIdentity(name)));
        ZMTPPeer peer = TestSockets.peerOf(dealer.connect(endpoint));
        loop.run();
        return peer;
    }

    private ZMTPPeer accepted(String endpoint, byte... name) {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        connect(router, endpoint, ByteBuffer.wrap(name));
        return router.peers().iterator().next();
    }

    @Test
    void onesWithinTheProcessHaveAnEndpoint() {
        ZMTPSocket pull = loop.open(ZMTPSocketConfig.builder(PULL));
        pull.bind("inproc://here");
        ZMTPPeer peer =
                TestSockets.peerOf(loop.open(ZMTPSocketConfig.builder(PUSH)).connect("inproc://here"));
        loop.run();

        assertThat(peer).hasToString("ZMTPPeer{inproc://here, inproc, queued=0}");
    }

    @Test
    void oneThatWasAcceptedHasAnAddressAndANameAndSpeaksAVersion() {
        assertThat(accepted("test://here", (byte) 'm', (byte) 'e').toString())
                .matches("ZMTPPeer\\{test://here from #\\w+, \"me\", ZMTP31 NULL, queued=0}");
    }

    @Test
    void aNameThatIsNotTextIsShownInHex() {
        assertThat(accepted("inproc://hex", (byte) 'm', (byte) 0xe9).toString()).contains(", 0x6de9, ");
    }

    @Test
    void oneThatIsNotThereIsDownAndMessagesWaitForIt() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        ZMTPPeer absent = TestSockets.peerOf(router.connect("inproc://absent"));
        loop.run();

        absent.sendOrDrop(message("1"));
        absent.sendOrDrop(message("2"));

        assertThat(absent.toString()).matches("ZMTPPeer\\{inproc://absent, .*down, queued=2}");
    }

    @Test
    void oneThatHasLeftIsKnownByItsEndpointAndItsName() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER));
        ZMTPPeer there = connect(router, "inproc://left", ByteBuffer.wrap(new byte[] {'m', 'e'}));
        ZMTPPeer accepted = router.peers().iterator().next();

        there.close();
        loop.advance(Duration.ofMillis(1));

        assertThat(accepted.toString()).matches("ZMTPPeer\\{inproc://left.*, \"me\", down, queued=0}");
        assertThat(accepted.routingIdUTF8()).isEqualTo("me");
    }
}
