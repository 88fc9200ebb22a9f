package dev.zmtp.internal.socket.publish;

import static dev.zmtp.testing.TestSockets.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Fate;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.PeerHandler;
import dev.zmtp.internal.socket.peer.RecordedOrigin;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.internal.socket.peer.WrittenChannel;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which peers a published message goes to. */
class FanOutTest {

    /** A peer and its channel. */
    private record Subscriber(Peer peer, WrittenChannel channel, EmbeddedChannel clock) {

        /** Returns the last frame of each message that was written. */
        private List<String> received() {
            clock.runPendingTasks();
            List<String> texts = new ArrayList<>();
            for (ZMTPMessage next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
                List<String> frames = TestSockets.frames(next);
                texts.add(frames.get(frames.size() - 1));
            }
            return texts;
        }
    }

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final List<Subscriber> subscribers = new ArrayList<>();

    @AfterEach
    void close() {
        for (Subscriber each : subscribers) {
            each.peer.outbound().failQueue(ZMTPSocketException.Reason.CLOSED, "the test is over");
            each.channel.finishAndReleaseAll();
        }
        clock.finishAndReleaseAll();
    }

    private SocketContext context(ZMTPSocketType type, OverflowPolicy policy) {
        ZMTPSocketConfig config = ZMTPSocketConfig.builder(type)
                .overflowPolicy(policy)
                .sendQueueLimit(1, 1_000)
                .build();
        return ClockedSockets.context(config, clock.eventLoop(), () -> 1);
    }

    private Subscriber connect(SocketContext context) {
        RecordedOwner owner = new RecordedOwner(context);
        PeerHandler link = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
        Subscriber connected = new Subscriber(owner.newPeer(null), new WrittenChannel(link), clock);
        connected.peer.up(link);
        subscribers.add(connected);
        return connected;
    }

    private static void subscribe(FanOut fanOut, Subscriber to, String topic) {
        fanOut.subscription(to.peer, ZMTPSubscription.subscribe(Unpooled.copiedBuffer(topic, UTF_8)));
    }

    @Test
    void aMessageGoesToThePeersWhoseTopicItBeginsWith() {
        SocketContext context = context(ZMTPSocketType.PUB, OverflowPolicy.DROP_NEW);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        Subscriber all = connect(context);
        Subscriber some = connect(context);
        subscribe(fanOut, all, "");
        subscribe(fanOut, some, "ab");

        assertThat(fanOut.route(message("abc"), null)).isEqualTo(Fate.PASSED);
        assertThat(fanOut.route(message("b"), null)).isEqualTo(Fate.PASSED);

        assertThat(all.received()).containsExactly("abc", "b");
        assertThat(some.received()).containsExactly("abc");
    }

    @Test
    void aPeerThatHasGoneOrCancelledGetsNothing() {
        SocketContext context = context(ZMTPSocketType.PUB, OverflowPolicy.DROP_NEW);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        Subscriber gone = connect(context);
        Subscriber cancelled = connect(context);
        subscribe(fanOut, gone, "a");
        subscribe(fanOut, cancelled, "a");
        fanOut.down(gone.peer);
        fanOut.subscription(cancelled.peer, ZMTPSubscription.cancel(Unpooled.copiedBuffer("a", UTF_8)));
        ZMTPMessage nobodys = message("a");

        fanOut.route(nobodys, null);

        assertThat(gone.received()).isEmpty();
        assertThat(cancelled.received()).isEmpty();
        assertThat(nobodys.refCnt()).isZero();
    }

    /** A group is compared whole. */
    @Test
    void aMessageOfARadioGoesToThoseThatHaveJoinedItsGroup() {
        SocketContext context = context(ZMTPSocketType.RADIO, OverflowPolicy.DROP_NEW);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        Subscriber joined = connect(context);
        Subscriber other = connect(context);
        fanOut.membership(joined.peer, ZMTPMembership.join(Unpooled.copiedBuffer("group", UTF_8)));
        fanOut.membership(other.peer, ZMTPMembership.join(Unpooled.copiedBuffer("gr", UTF_8)));

        fanOut.route(message("group", "m"), null);

        assertThat(joined.received()).containsExactly("m");
        assertThat(other.received()).isEmpty();
    }

    @Test
    void thePublisherThatWaitsSendsToAllPeersOrToNone() {
        SocketContext context = context(ZMTPSocketType.PUB, OverflowPolicy.WAIT);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        Subscriber free = connect(context);
        Subscriber full = connect(context);
        subscribe(fanOut, free, "");
        subscribe(fanOut, full, "");
        full.channel.writable(false);
        assertThat(fanOut.route(message("queued"), null)).isEqualTo(Fate.PASSED);
        ZMTPMessage refused = message("refused");

        assertThat(fanOut.route(refused, null)).isEqualTo(Fate.REFUSED);

        assertThat(refused.release()).as("the caller's").isTrue();
        assertThat(free.received()).containsExactly("queued");
    }

    @Test
    void theResultOfAMessageIsThatItIsWithThePeersQueues() {
        SocketContext context = context(ZMTPSocketType.PUB, OverflowPolicy.DROP_NEW);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        CompletableFuture<Void> result = new CompletableFuture<>();

        fanOut.route(message("m"), result);

        assertThat(result).isCompleted();
    }

    /** Its owner can change it when all have it, and send it again. */
    @Test
    void aMessageThatItsOwnerKeepsHasNoEncodedForm() {
        SocketContext context = context(ZMTPSocketType.PUB, OverflowPolicy.DROP_NEW);
        FanOut fanOut = new FanOut(context, new Subscribers(context));
        List<Subscriber> both = List.of(connect(context), connect(context));
        both.forEach(each -> subscribe(fanOut, each, ""));
        ZMTPMessage kept = message("topic", "kept");
        ZMTPMessage given = message("topic", "given");

        fanOut.route(kept.retain(), null);
        fanOut.route(given, null);

        assertThat(kept.isEncodedOnce()).isFalse();
        assertThat(kept.refCnt()).isOne();
        assertThat(kept.frame(1).refCnt()).as("nobody else has its frames").isOne();
        assertThat(given.isEncodedOnce()).isTrue();
        both.forEach(each -> assertThat(each.received()).containsExactly("kept", "given"));
        kept.release();
    }
}
