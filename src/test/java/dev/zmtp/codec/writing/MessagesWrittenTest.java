package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How many messages the transport has taken: those whose last buffer was written, and nothing else. */
class MessagesWrittenTest {

    private final Transport transport = new Transport();

    private ScriptedPeer dealer() {
        return started(InTraffic.as(DEALER));
    }

    /** A connection whose transport answers when the test wants it. */
    private ScriptedPeer started(InTraffic connection) {
        ScriptedPeer peer = connection.before(transport).start();
        peer.channel.runPendingTasks();
        transport.holds = true;
        return peer;
    }

    private static long written(ScriptedPeer peer) {
        return peer.codec().session().messagesWritten();
    }

    private static ZMTPMessage message(int... lengths) {
        return Loopback.message(lengths);
    }

    /** Writes and flushes; what waits for other flushes leaves, too. */
    private static void send(ScriptedPeer peer, Object... messages) {
        for (Object message : messages) {
            peer.channel.write(message);
        }
        flush(peer);
    }

    private static void flush(ScriptedPeer peer) {
        peer.channel.flush();
        peer.channel.runPendingTasks();
    }

    // Buffers

    @Test
    void messagesOfABatchCountWhenItIsWritten() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1), message(2, 0, 3), message(300));
            assertThat(transport.buffers()).isOne();
            assertThat(written(peer)).isZero();
            transport.succeed();
            assertThat(written(peer)).isEqualTo(3);
        }
    }

    @Test
    void aLargeBodyCountsWhenItIsWrittenAndNotWithItsHeader() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1), message(1), message(5000), message(6000), message(1));
            assertThat(transport.buffers()).isEqualTo(5);
            assertThat(transport.countAfterEach(peer)).containsExactly(2L, 3L, 3L, 4L, 5L);
        }
    }

    @Test
    void aMessageCountsWithItsLastFrame() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1, 5000, 1, 5000, 2), message(3), message(5000, 5000));
            assertThat(transport.countAfterEach(peer)).containsExactly(0L, 0L, 0L, 0L, 2L, 2L, 2L, 3L);
        }
    }

    @Test
    void aMessageInSeveralBatchesCountsWithTheLast() {
        try (ScriptedPeer peer = dealer()) {
            int[] frames = new int[40];
            Arrays.fill(frames, 4000);
            send(peer, message(1), message(frames), message(1));
            List<Long> counts = transport.countAfterEach(peer);
            assertThat(counts).hasSizeGreaterThan(2).last().isEqualTo(3L);
            assertThat(counts.subList(0, counts.size() - 1)).containsOnly(1L);
        }
    }

    @Test
    void eachFlushCountsItsOwn() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1), message(1));
            send(peer, message(1));
            send(peer, message(1), message(1), message(1));
            assertThat(transport.countAfterEach(peer)).containsExactly(2L, 3L, 6L);
        }
    }

    @ParameterizedTest
    @EnumSource(ZMTPVersion.class)
    void messagesCountInEachVersion(ZMTPVersion version) {
        try (ScriptedPeer peer = started(InTraffic.as(PUB).peer(version))) {
            send(peer, message(1), message(1, 2, 300), message(5000), message(1, 100_000));
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(4);
        }
    }

    @Test
    void sealedMessagesCount() {
        try (CodecPair pair = CodecPair.curve(server -> server)) {
            pair.left.channel.pipeline().addFirst(transport);
            ZMTPSession session =
                    pair.left.channel.pipeline().get(ZMTPCodec.class).session();
            transport.holds = true;
            for (ZMTPMessage each : List.of(message(1), message(1, 2, 3), message(100_000), message(1, 9000))) {
                pair.left.channel.write(each);
            }
            pair.left.channel.flush();
            assertThat(session.messagesWritten()).isZero();
            transport.open();
            pair.left.channel.flush();
            assertThat(session.messagesWritten()).isEqualTo(4);
            assertThat(pair.exchange().right.messages).hasSize(4).allMatch(ReferenceCountUtil::release);
        }
    }

    @Test
    void messagesThatWereEncodedOnceCount() {
        try (ScriptedPeer peer = dealer()) {
            send(
                    peer,
                    message(1, 2).encodeOnce(),
                    message(1).encodeOnce(),
                    message(5000).encodeOnce(),
                    message(1));
            assertThat(transport.countAfterEach(peer)).containsExactly(1L, 2L, 3L, 4L);
        }
    }

    @Test
    void eachObjectOfTheUsersEncoderCounts() {
        try (ScriptedPeer peer =
                started(InTraffic.as(DEALER).set(codec -> codec.encoder(session -> new EncoderTest.Strings())))) {
            send(peer, "a", "b", "c".repeat(100_000), "d");
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(4);
        }
    }

    @Test
    void eachSealedObjectOfTheUsersEncoderCounts() {
        try (CodecPair pair = CodecPair.curve(server -> server.encoder(session -> new EncoderTest.Strings()))) {
            pair.right.channel.write("a");
            pair.right.channel.writeAndFlush("b".repeat(9000));
            assertThat(pair.right
                            .channel
                            .pipeline()
                            .get(ZMTPCodec.class)
                            .session()
                            .messagesWritten())
                    .isEqualTo(2);
            assertThat(pair.exchange().left.messages).hasSize(2).allMatch(ReferenceCountUtil::release);
        }
    }

    // Promises

    @Test
    void voidPromisesChangeNothing() {
        try (ScriptedPeer peer = dealer()) {
            for (int count = 1; count <= 20; count++) { // more than there are kept listeners
                for (int i = 0; i < count; i++) {
                    peer.channel.write(message(1), peer.channel.voidPromise());
                }
                flush(peer);
            }
            peer.channel.write(message(5000), peer.channel.voidPromise());
            peer.channel.write(message(1, 5000), peer.channel.voidPromise());
            flush(peer);
            List<Long> counts = transport.countAfterEach(peer);
            assertThat(counts.subList(0, 20))
                    .containsExactly(
                            1L, 3L, 6L, 10L, 15L, 21L, 28L, 36L, 45L, 55L, 66L, 78L, 91L, 105L, 120L, 136L, 153L, 171L,
                            190L, 210L);
            assertThat(counts.subList(20, 24)).containsExactly(210L, 211L, 211L, 212L);
        }
    }

    @Test
    void bothKindsOfPromisesMayShareABatch() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(1), peer.channel.voidPromise());
            peer.channel.write(message(1));
            peer.channel.write(message(1), peer.channel.voidPromise());
            flush(peer);
            transport.succeed();
            assertThat(written(peer)).isEqualTo(3);
        }
    }

    @Test
    void aListenerFindsItsMessageCounted() {
        try (ScriptedPeer peer = dealer()) {
            List<Long> found = new ArrayList<>();
            peer.channel.write(message(1)).addListener(done -> found.add(written(peer)));
            peer.channel.write(message(5000)).addListener(done -> found.add(written(peer)));
            flush(peer);
            transport.succeedAll();
            assertThat(found).containsExactly(1L, 2L);
        }
    }

    // What is no message

    @ParameterizedTest
    @EnumSource(ZMTPVersion.class)
    void subscriptionsDoNotCount(ZMTPVersion version) {
        try (ScriptedPeer peer = started(InTraffic.as(XSUB).peer(version))) {
            send(
                    peer,
                    ZMTPSubscription.subscribe("a"),
                    message(1),
                    ZMTPSubscription.cancel("a"),
                    ZMTPSubscription.subscribe("b".repeat(5000)),
                    message(5000),
                    ZMTPSubscription.subscribe("b".repeat(5000)));
            peer.channel.write(ZMTPSubscription.subscribe("c"), peer.channel.voidPromise());
            flush(peer);
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(2);
        }
    }

    @Test
    void messagesCountAfterASubscriptionThatCouldNotBeWritten() {
        try (ScriptedPeer peer = started(InTraffic.as(XSUB))) {
            ChannelPromise cancelled = peer.channel.newPromise();
            cancelled.cancel(false);
            peer.channel.write(ZMTPSubscription.subscribe("a"), cancelled);
            send(peer, message(1));
            transport.succeedAll();
            assertThat(written(peer)).isOne();
        }
    }

    @Test
    void membershipsDoNotCount() {
        try (ScriptedPeer peer = started(InTraffic.as(DISH))) {
            send(peer, ZMTPMembership.join("a"), ZMTPMembership.leave("a"));
            assertThat(transport.buffers()).isPositive();
            transport.succeedAll();
            assertThat(written(peer)).isZero();
        }
    }

    @Test
    void barriersDoNotCount() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, Unpooled.EMPTY_BUFFER, message(1), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
            transport.succeedAll();
            assertThat(written(peer)).isOne();
        }
    }

    @Test
    void theHandshakePingsAndPongsDoNotCount() {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(1)))
                .start()) {
            peer.send(ScriptedPeer.command("04 \"PING\" 0000 \"ctx\""));
            assertThat(peer.received()).contains(Hex.of("\"PONG\""));
            peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
            peer.channel.runPendingTasks();
            assertThat(peer.received()).contains(Hex.of("\"PING\""));
            assertThat(written(peer)).isZero();
        }
    }

    // Held writes

    @Test
    void aHeldMessageCountsWhenItIsReallyWritten() {
        ZMTPCodec codec = ZMTPCodec.of(DEALER);
        try (ScriptedPeer peer = new ScriptedPeer(transport, codec)) {
            send(peer, message(1), message(5000));
            assertThat(written(peer)).isZero();
            transport.holds = true;
            peer.send(ScriptedPeer.greeting(ZMTPVersion.ZMTP31, DEALER));
            assertThat(written(peer)).isZero();
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(2);
        }
    }

    @Test
    void aHeldMessageWhoseHandshakeFailsDoesNotCount() {
        ZMTPCodec codec = ZMTPCodec.of(DEALER);
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            send(peer, message(1));
            peer.send("00*64");
            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(written(peer)).isZero();
        }
    }

    // Failures

    @Test
    void ofAFailedBufferNothingCounts() {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture first = peer.channel.write(message(1));
            flush(peer);
            ChannelFuture second = peer.channel.write(message(1));
            peer.channel.write(message(1), peer.channel.voidPromise());
            flush(peer);
            transport.succeed();
            transport.fail();
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.cause()).isSameAs(transport.broken);
            assertThat(written(peer)).isOne();
        }
    }

    @Test
    void aMessageWhoseBodyFailsDoesNotCount() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1), message(5000), message(5000));
            transport.succeed();
            transport.failAll();
            assertThat(written(peer)).isOne();
        }
    }

    /** A handler before the codec may do that. */
    @ParameterizedTest(name = "void promises: {0}")
    @ValueSource(booleans = {false, true})
    void eachBufferHasItsOwnResultWhateverTheirOrder(boolean isVoid) {
        try (ScriptedPeer peer = dealer()) {
            for (int count : new int[] {5, 1, 1, 1, 2}) {
                for (int i = 0; i < count; i++) {
                    peer.channel.write(message(1), isVoid ? peer.channel.voidPromise() : peer.channel.newPromise());
                }
                flush(peer);
            }
            ChannelPromise last = transport.promises.removeLast();
            transport.promises.removeLast().setFailure(transport.broken);
            last.setSuccess();
            assertThat(written(peer)).isEqualTo(2);
            transport.succeed();
            transport.failAll();
            assertThat(written(peer)).isEqualTo(7);
        }
    }

    @Test
    void aMessageThatCannotBeEncodedDoesNotCount() {
        try (ScriptedPeer peer = dealer()) {
            ZMTPMessage released = message(1, 1);
            released.frame(1).release();
            ChannelFuture refused = peer.channel.write(released);
            ChannelPromise cancelled = peer.channel.newPromise();
            cancelled.cancel(false);
            peer.channel.write(message(1), cancelled);
            peer.channel
                    .write("no message")
                    .addListener(done -> assertThat(done.isSuccess()).isFalse());
            send(peer, message(1));
            transport.succeedAll();
            assertThat(refused.cause()).isInstanceOf(EncoderException.class);
            assertThat(written(peer)).isOne();
        }
    }

    @Test
    void anObjectWhoseEncoderThrowsDoesNotCount() {
        ScriptedEncoder encoder = new ScriptedEncoder(1, (object, writer) -> {
            writer.frame(1, false).writeByte(1);
            if (object.equals("bad")) {
                throw new IllegalStateException("bad");
            }
        });
        try (ScriptedPeer peer = started(InTraffic.as(DEALER).set(codec -> codec.encoder(session -> encoder)))) {
            send(peer, "good", "bad", "good");
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(2);
        }
    }

    // The end

    @Test
    void unflushedMessagesOfAClosedChannelDoNotCount() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            send(peer, message(1));
            ChannelFuture small = peer.channel.write(message(1));
            ChannelFuture large = peer.channel.write(message(5000));
            peer.channel.close();
            assertThat(small.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(large.cause()).isInstanceOf(ClosedChannelException.class);
            peer.channel.write(message(1));
            flush(peer);
            assertThat(written(peer)).isOne();
        }
    }

    @Test
    void whatTheTransportTakesAfterTheEndCounts() {
        try (ScriptedPeer peer = dealer()) {
            send(peer, message(1), message(1));
            peer.channel.write(message(1));
            peer.channel.pipeline().remove("codec");
            transport.succeedAll();
            assertThat(written(peer)).isEqualTo(3);
        }
    }

    @Test
    void aMessageInWhichTheChannelIsClosedDoesNotCount() {
        EmbeddedChannel[] channel = new EmbeddedChannel[1];
        ScriptedEncoder encoder = new ScriptedEncoder(1, (object, writer) -> {
            if (object.equals("last")) {
                channel[0].close();
            }
            writer.frame(1, false).writeByte(1);
        });
        try (ScriptedPeer peer = started(InTraffic.as(DEALER).set(codec -> codec.encoder(session -> encoder)))) {
            channel[0] = peer.channel;
            peer.channel.write("a");
            peer.channel.write("last");
            transport.succeedAll();
            assertThat(written(peer)).isOne();
        }
    }

    /** Takes what is written, and completes the writes as a test says. */
    private static final class Transport extends ChannelOutboundHandlerAdapter {
        private final IOException broken = new IOException("broken");
        private final Deque<ChannelPromise> promises = new ArrayDeque<>();
        private final Deque<Runnable> writes = new ArrayDeque<>();
        private boolean holds;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (!holds) {
                ctx.write(msg, promise);
            } else {
                promises.add(promise);
                ByteBuf bytes = (ByteBuf) msg;
                byte[] copy = new byte[bytes.readableBytes()];
                bytes.readBytes(copy).release();
                writes.add(() -> ctx.write(Unpooled.wrappedBuffer(copy), promise));
            }
        }

        private int buffers() {
            return promises.size();
        }

        private void succeed() {
            promises.removeFirst().setSuccess();
        }

        private void succeedAll() {
            while (!promises.isEmpty()) {
                succeed();
            }
        }

        private void fail() {
            promises.removeFirst().setFailure(broken);
        }

        private void failAll() {
            while (!promises.isEmpty()) {
                fail();
            }
        }

        /** Completes one buffer after the other, and returns what is counted after each. */
        private List<Long> countAfterEach(ScriptedPeer peer) {
            List<Long> counts = new ArrayList<>();
            while (!promises.isEmpty()) {
                succeed();
                counts.add(written(peer));
            }
            return counts;
        }

        /** Lets go of what was held, and holds no more. */
        private void open() {
            holds = false;
            promises.clear();
            writes.forEach(Runnable::run);
            writes.clear();
        }
    }
}
