package dev.zmtp.internal.write;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REQ;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A peer drops what a REQ writes without a delimiter, so the log says that it is missing. */
class DelimiterHintTest {

    private static List<String> logged(ZMTPSocketType type, String... firstFrames) {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.DelimiterHint");
                ScriptedPeer peer = InTraffic.as(type).start()) {
            for (String first : firstFrames) {
                peer.channel.writeAndFlush(ZMTPMessage.fromUTF8(first, "request"));
            }
            return List.copyOf(log.lines);
        }
    }

    @Test
    void aRequestWithoutADelimiterIsLoggedOnce() {
        assertThat(logged(REQ, "", "first", "second"))
                .singleElement()
                .asString()
                .endsWith(": first frame: 5 bytes (expected: an empty frame, the delimiter)");
    }

    @Test
    void aRequestWithADelimiterIsNotLogged() {
        assertThat(logged(REQ, "", "")).isEmpty();
    }

    @Test
    void anotherTypeNeedsNoDelimiter() {
        assertThat(logged(DEALER, "first")).isEmpty();
    }
}
