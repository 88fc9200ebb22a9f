package dev.zmtp.internal.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerTcpTest {

    /** What is asked of Netty's class. */
    public record Info(long lastAckRecv, int probes, long unacked, int retransmits) {}

    /** A channel that knows its peer's kernel. */
    public static final class Knowing extends EmbeddedChannel {
        private final Info info;

        Knowing(Info info) {
            this.info = info;
        }

        public Info tcpInfo() throws IOException {
            if (info == null) {
                throw new IOException("closed");
            }
            return info;
        }
    }

    @ParameterizedTest(name = "last acknowledgement {0} ms ago, {1} probes, {2} unacknowledged, {3} sent again: {4}")
    @CsvSource({
        "1000, 0, 1, 1, true",
        "999, 0, 1, 1, false",
        "1000, 0, 1, 0, false", // it has only just been sent
        "1000, 0, 0, 0, false", // an idle connection
        "1000, 1, 0, 0, false", // a probe that may be on its way
        "1000, 2, 0, 0, true",
        "999, 2, 0, 0, false",
    })
    void aKernelIsSilentIfItDoesNotAcknowledgeWhatWasSentAgain(
            long lastAck, int probes, long unacked, int retransmits, boolean silent) {
        Knowing channel = new Knowing(new Info(lastAck, probes, unacked, retransmits));
        assertThat(PeerTcp.isSilent(channel, 1_000)).isEqualTo(silent);
    }

    /** It is found by its name. */
    @ParameterizedTest
    @ValueSource(strings = {"io.netty.channel.epoll.EpollSocketChannel", "io.netty.channel.uring.IoUringSocketChannel"})
    void nettyHasWhatIsAskedFor(String channel) throws NoSuchMethodException {
        Class<?> there;
        try {
            there = Class.forName(channel, false, getClass().getClassLoader());
        } catch (ClassNotFoundException e) {
            return; // Netty 4.1 has no io_uring
        }
        Class<?> info = there.getMethod("tcpInfo").getReturnType();
        for (String name : List.of("lastAckRecv", "probes", "unacked", "retransmits")) {
            assertThat(info.getMethod(name).getReturnType()).isIn(int.class, long.class);
        }
    }

    @Test
    void aClosedSocketKnowsNothing() {
        assertThat(PeerTcp.isSilent(new Knowing(null), 0)).isFalse();
    }

    @Test
    void otherChannelsKnowNothing() {
        assertThat(PeerTcp.isSilent(new EmbeddedChannel(), 0)).isFalse();
    }
}
