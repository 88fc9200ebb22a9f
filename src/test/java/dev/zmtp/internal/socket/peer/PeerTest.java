package dev.zmtp.internal.socket.peer;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.PeerCounters.Counter;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A peer over its connections, and what waits for it. */
class PeerTest {

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context = ClockedSockets.context(
            ZMTPSocketConfig.builder(ZMTPSocketType.ROUTER)
                    .sendQueueLimit(2, 1_000)
                    .build(),
            clock.eventLoop(),
            () -> 1);
    private final RecordedOwner owner = new RecordedOwner(context);
    private final Peer peer = owner.newPeer(null);
    private final List<WrittenChannel> channels = new ArrayList<>();

    @AfterEach
    void close() {
        peer.outbound().failQueue(ZMTPSocketException.Reason.CLOSED, "the test is over");
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
        clock.finishAndReleaseAll();
    }

    /** Gives the peer a connection. */
    private WrittenChannel connect() {
        PeerHandler link = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
        WrittenChannel channel = new WrittenChannel(link);
        channels.add(channel);
        peer.up(link);
        owner.calls.clear();
        return channel;
    }

    private void runTasks() {
        clock.runPendingTasks();
    }

    @Test
    void whatTheApplicationSendsGoesThroughTheSocket() {
        CompletableFuture<Void> result = peer.sendAsync(message("a"));
        peer.sendOrDrop(message("a"));
        assertThat(peer.trySend(message("a"))).isTrue();
        assertThat(peer.isWritable()).isTrue();

        assertThat(owner.calls).containsExactly("send 1 with a result", "send 1", "try 1", "may take");
        assertThat(result).isNotDone();
    }

    @Test
    void aPeerIsUpWhileItHasAConnection() {
        assertThat(peer.isUp()).isFalse();
        assertThat(peer.isForgotten()).isTrue();

        connect();
        assertThat(peer.isUp()).isTrue();
        assertThat(peer.isForgotten()).isFalse();
        assertThat(peer.counters().get(Counter.CONNECTS)).isEqualTo(1);

        peer.down();
        assertThat(peer.isUp()).isFalse();
    }

    @Test
    void aMessagePassesIfTheChannelHasRoomAndIsQueuedIfItHasNot() {
        WrittenChannel channel = connect();
        assertThat(peer.outbound().send(message("1"), null)).isEqualTo(Fate.PASSED);
        channel.writable(false);

        assertThat(peer.outbound().send(message("2"), null)).isEqualTo(Fate.QUEUED);
        assertThat(peer.outbound().send(message("3"), null)).isEqualTo(Fate.QUEUED);

        assertThat(peer.queue().messages()).isEqualTo(2);
        assertThat(peer.outbound().canTake()).isFalse();
    }

    @Test
    void aMessageThatFindsTheQueueFullIsStillTheCallers() {
        WrittenChannel channel = connect();
        channel.writable(false);
        peer.outbound().send(message("1"), null);
        peer.outbound().send(message("2"), null);
        var third = message("3");

        assertThat(peer.outbound().send(third, null)).isEqualTo(Fate.REFUSED);

        assertThat(third.release()).isTrue();
        assertThat(peer.counters().get(Counter.SENT)).isEqualTo(2);
    }

    /** Its queue was emptied while it was away. */
    @Test
    void aPeerThatComesBackIsReadFrom() {
        WrittenChannel before = connect();
        before.writable(false);
        peer.outbound().send(message("1"), null);
        peer.outbound().send(message("2"), null);
        peer.unreadAnswers().changed();
        assertThat(peer.unreadAnswers().areMany()).isTrue();
        assertThat(before.config().isAutoRead()).isFalse();

        peer.outbound().failQueue(ZMTPSocketException.Reason.FULL, "memory is short");
        WrittenChannel after = connect();

        assertThat(after.config().isAutoRead()).isTrue();
    }

    @Test
    void whatASenderAddsWhenItHearsOfAFailureStays() {
        connect().writable(false);
        CompletableFuture<Void> result = new CompletableFuture<>();
        result.whenComplete((r, e) -> peer.outbound().send(message("again"), null));
        peer.outbound().send(message("1"), result);

        peer.outbound().failQueue(ZMTPSocketException.Reason.FULL, "memory is short");

        assertThat(peer.queue().messages()).isOne();
    }

    @Test
    void whatWaitsIsWrittenInOrderWhenTheChannelHasRoom() {
        WrittenChannel channel = connect();
        channel.writable(false);
        peer.outbound().send(message("1"), null);
        peer.outbound().send(message("2"), null);
        channel.writable(true);

        peer.outbound().drain();

        assertThat(peer.queue().isEmpty()).isTrue();
        runTasks();
        assertThat(channel.outboundMessages().stream().map(Object::toString))
                .hasSize(2)
                .isEqualTo(List.of(message("1"), message("2")).stream()
                        .map(sent -> {
                            String text = sent.toString();
                            sent.release();
                            return text;
                        })
                        .toList());
    }

    @Test
    void aPeerWhoseAnswersHaveNoRoomIsNotReadUntilTheyHave() {
        WrittenChannel channel = connect();
        channel.writable(false);
        peer.outbound().send(message("1"), null);
        peer.outbound().send(message("2"), null);

        peer.unreadAnswers().changed();
        assertThat(channel.config().isAutoRead()).isFalse();

        channel.writable(true);
        peer.outbound().drain();
        assertThat(channel.config().isAutoRead()).isTrue();
    }

    @Test
    void aPeerIsNotReadWhileTheApplicationHasPausedIt() {
        WrittenChannel channel = connect();

        peer.pauseReading();
        runTasks();
        assertThat(channel.config().isAutoRead()).isFalse();

        peer.resumeReading();
        runTasks();
        assertThat(channel.config().isAutoRead()).isTrue();
    }

    @Test
    void aPeerThatOwesAnAnswerIsNotFree() {
        connect();
        assertThat(peer.isFree()).isTrue();
        RecordedOutgoing request = new RecordedOutgoing(message("?"));

        peer.awaited(request);
        assertThat(peer.isFree()).isFalse();

        peer.awaited(null);
        assertThat(peer.isFree()).isTrue();
        request.message().release();
    }

    @Test
    void whatWaitsFailsWithThePeer() {
        WrittenChannel channel = connect();
        channel.writable(false);
        CompletableFuture<Void> result = new CompletableFuture<>();
        peer.outbound().send(message("1"), result);

        peer.outbound().failQueue(ZMTPSocketException.Reason.PEER_DOWN, "it has gone");

        assertThatThrownBy(result::join).hasRootCauseMessage("PEER_DOWN: it has gone");
        assertThat(peer.counters().get(Counter.DROPPED)).isEqualTo(1);
    }

    @Test
    void aPeerOfAConnectorIsForgottenOnceThatHasStopped() {
        PeerHome home = mock(PeerHome.class);
        when(home.state()).thenReturn(ZMTPEndpoint.State.RETRYING);
        Peer ours = owner.newPeer(home);
        assertThat(ours.endpoint()).isSameAs(home);
        assertThat(ours.isForgotten()).isFalse();

        when(home.state()).thenReturn(ZMTPEndpoint.State.STOPPED);

        assertThat(ours.isForgotten()).isTrue();
    }

    /** Or the next attempt would come after a long wait, although the other side has not failed. */
    @Test
    void aConnectorExpectsTheEndThatThisSideMakes() {
        PeerHome home = mock(PeerHome.class);
        Peer ours = owner.newPeer(home);
        PeerHandler link = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
        WrittenChannel channel = new WrittenChannel(link);
        channels.add(channel);
        ours.up(link);

        ours.disconnect("a request without a timeout was cancelled");

        verify(home).expectEnd();
        assertThat(channel.isOpen()).isFalse();
    }
}
