package dev.zmtp.codec.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The connection is lost after any byte of a conversation, in any way that a transport reports it. Complete messages
 * are fired, no part of another is, and the end is reported once: it is a failure unless it comes between two messages.
 */
class LostConnectionTest {

    /** How a transport reports the end. */
    private enum Loss {
        /** The peer has closed the connection. */
        CLOSE,
        /** The peer will send no more; the transport is configured to keep such connections. */
        HALF_CLOSE,
        /** The peer, or a firewall between, has reset the connection. */
        RESET;

        void happenTo(EmbeddedChannel channel) {
            switch (this) {
                case CLOSE -> close(channel);
                case HALF_CLOSE -> channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
                case RESET -> {
                    channel.pipeline().fireExceptionCaught(new IOException("Connection reset"));
                    close(channel);
                }
            }
            channel.runPendingTasks();
        }

        /** Closes as the transport does it: past the pipeline. */
        private static void close(EmbeddedChannel channel) {
            channel.unsafe().close(channel.voidPromise());
        }

        /** What the codec then fires during the handshake. */
        List<String> inHandshake() {
            return switch (this) {
                case CLOSE -> List.of("refused: CLOSED", "closed");
                case HALF_CLOSE -> List.of("input shut down", "refused: CLOSED", "closed");
                case RESET -> List.of("refused: IOException", "closed");
            };
        }

        /** What the codec then fires in traffic. */
        List<String> inTraffic(boolean between) {
            List<String> fired = new ArrayList<>();
            if (this == HALF_CLOSE) {
                fired.add("input shut down");
            }
            if (this == RESET) {
                fired.add("IOException");
            } else if (!between) {
                fired.add("CLOSED");
            }
            fired.add("closed");
            return fired;
        }
    }

    static Stream<Arguments> everyConversationAndLoss() {
        return Transcript.ofEachVersion()
                .flatMap(conversation -> Arrays.stream(Loss.values()).map(loss -> Arguments.of(conversation, loss)));
    }

    private static List<String> expected(Transcript conversation, Loss loss, int bytes) {
        List<String> expected = new ArrayList<>(conversation.fired(bytes));
        expected.addAll(
                bytes < conversation.handshake() ? loss.inHandshake() : loss.inTraffic(conversation.isBetween(bytes)));
        return expected;
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("everyConversationAndLoss")
    void completeMessagesAreFiredAndTheEndIsReportedOnce(Transcript conversation, Loss loss) {
        byte[] bytes = conversation.bytes();
        for (int length = 0; length <= bytes.length; length++) {
            try (ScriptedPeer peer = Transcript.begin()) {
                peer.send(Arrays.copyOf(bytes, length));
                loss.happenTo(peer.channel);
                assertThat(Transcript.outcome(peer))
                        .as("behind %d bytes", length)
                        .isEqualTo(expected(conversation, loss, length));
            }
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("everyConversationAndLoss")
    void bytesThatArriveSinglyChangeNothing(Transcript conversation, Loss loss) {
        byte[] bytes = conversation.bytes();
        for (int length = 0; length <= bytes.length; length += 1 + length / 30) {
            try (ScriptedPeer peer = Transcript.begin()) {
                peer.sendSingly(Arrays.copyOf(bytes, length));
                loss.happenTo(peer.channel);
                assertThat(Transcript.outcome(peer))
                        .as("behind %d bytes", length)
                        .isEqualTo(expected(conversation, loss, length));
            }
        }
    }
}
