package dev.zmtp.test;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.socket.ZMTPSocketConfig;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A recorded connection that is played to a socket. */
@Tag("netty-4.2-only")
class ReplayedPeerTest {

    private static ZMTPRecording.Entry entry(ZMTPRecording.Kind kind, byte[]... frames) {
        return new ZMTPRecording.Entry(
                Duration.ZERO, "test://silent", ROUTER, true, 1, kind, DEALER, ByteBuffer.allocate(0), List.of(frames));
    }

    @Test
    void theMessagesThatASocketDoesNotSendAreBoundedByBytes() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            loop.open(ZMTPSocketConfig.builder(ROUTER)).bind("test://silent");
            List<ZMTPReplay.Difference> differences = new ArrayList<>();
            ReplayedPeer peer = new ReplayedPeer(loop, entry(ZMTPRecording.Kind.UP), differences::add);
            peer.connect("test://silent");
            ZMTPRecording.Entry sent = entry(ZMTPRecording.Kind.SENT, new byte[20 << 20]);

            for (int i = 0; i < 3; i++) {
                peer.expect(sent);
                assertThat(differences).as("after %d", i).isEmpty();
            }
            peer.expect(sent);

            assertThat(differences).hasSize(1);
            assertThat(differences.get(0).message()).isOne();
            peer.close();
        }
    }
}
