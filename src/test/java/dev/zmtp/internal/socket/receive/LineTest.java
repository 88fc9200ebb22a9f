package dev.zmtp.internal.socket.receive;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose turn it is. */
class LineTest {

    /** Wants nothing of some peers. */
    private static final class Choosy implements Sink {
        private final Set<Peer> unwanted = new HashSet<>();
        private final Deque<Peer> declined = new ArrayDeque<>();

        @Override
        public boolean wants() {
            return true;
        }

        @Override
        public boolean wants(Peer from) {
            return !unwanted.contains(from);
        }

        @Override
        public void declined(Peer from) {
            declined.add(from);
        }

        @Override
        public Peer recall() {
            return unwanted.isEmpty() ? declined.poll() : null;
        }

        @Override
        public void take(Peer from, ZMTPMessage message) {
            message.release();
        }

        @Override
        public void closed() {}
    }

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final RecordedOwner owner = new RecordedOwner(
            ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PULL), clock.eventLoop(), () -> 1));
    private final Line line = new Line();
    private final Choosy sink = new Choosy();
    private final Peer first = withMessage();
    private final Peer second = withMessage();

    private Peer withMessage() {
        Peer peer = owner.newPeer(null);
        peer.inbound().messages.add(ZMTPMessage.fromUTF8("m"));
        line.add(peer);
        return peer;
    }

    @AfterEach
    void close() {
        first.inbound().messages.forEach(ZMTPMessage::release);
        second.inbound().messages.forEach(ZMTPMessage::release);
        clock.finishAndReleaseAll();
    }

    @Test
    void aPeerOfWhichNothingIsWantedStandsAsideAndIsNotAskedAgain() {
        sink.unwanted.add(first);

        assertThat(line.next(sink)).isSameAs(second);
        assertThat(line.isEmpty()).isTrue();
        assertThat(line.mayHaveNext()).isTrue();
        line.add(first);
        assertThat(line.next(sink)).as("a new message gives it no turn").isNull();
        assertThat(sink.declined).containsExactly(first);
    }

    @Test
    void aPeerThatIsGivenBackOrRecalledHasATurnIfItHasMessages() {
        sink.unwanted.add(first);
        line.next(sink);
        line.back(first);
        assertThat(line.next(sink)).as("still unwanted").isNull();
        sink.unwanted.clear();

        assertThat(line.next(sink)).isSameAs(first);
        assertThat(line.mayHaveNext()).isFalse();
    }

    @Test
    void allPeersComeBackWhenTheSinkLeaves() {
        sink.unwanted.add(first);
        sink.unwanted.add(second);
        line.next(sink);

        line.allBack();

        assertThat(line.poll()).isSameAs(first);
        assertThat(line.poll()).isSameAs(second);
        assertThat(line.poll()).isNull();
    }

    @Test
    void aPeerWhoseMessagesAreDroppedIsRemovedFromBothPlaces() {
        sink.unwanted.add(first);
        line.next(sink);
        first.inbound().messages.remove().release();
        second.inbound().messages.remove().release();

        line.remove(first);
        line.remove(second);

        assertThat(line.mayHaveNext()).isFalse();
    }
}
