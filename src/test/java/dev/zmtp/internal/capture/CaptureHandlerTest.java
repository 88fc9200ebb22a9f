package dev.zmtp.internal.capture;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.capture.ZMTPCapture;
import dev.zmtp.capture.ZMTPRecording;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections whose capture fails. */
class CaptureHandlerTest {

    private static final ByteBuffer NO_ID = ByteBuffer.allocate(0);

    @Test
    void aHandshakeThatCannotBeCapturedSpoilsNoOtherConnection(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("f.pcapng");
        CapturedHandshake whole = CapturedHandshake.inproc(DEALER, NO_ID, ROUTER, NO_ID);
        CapturedHandshake withoutMetadata =
                new CapturedHandshake("inproc", "", DEALER, whole.localMetadata(), ROUTER, null);
        try (ZMTPCapture capture = ZMTPCapture.record(file)) {
            for (CapturedHandshake handshake : new CapturedHandshake[] {withoutMetadata, whole}) {
                EmbeddedChannel channel = new EmbeddedChannel(capture.handler("embedded://a"));
                channel.writeOutbound(message("early"));
                channel.pipeline().fireUserEventTriggered(handshake);
                channel.writeOutbound(message("sent"));
                channel.writeInbound(message("received"));
                channel.finishAndReleaseAll();
            }
        }

        try (ZMTPRecording recording = ZMTPRecording.open(file)) {
            assertThat(recording.entries())
                    .extracting(ZMTPRecording.Entry::kind)
                    .containsExactly(
                            ZMTPRecording.Kind.UP,
                            ZMTPRecording.Kind.SENT,
                            ZMTPRecording.Kind.SENT,
                            ZMTPRecording.Kind.RECEIVED,
                            ZMTPRecording.Kind.DOWN);
            assertThat(recording.isComplete()).isFalse();
        }
    }
}
