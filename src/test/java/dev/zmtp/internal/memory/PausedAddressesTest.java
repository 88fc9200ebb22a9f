package dev.zmtp.internal.memory;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.AddressedChannel;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** New connections wait if one with their address was ended for the memory budget a moment ago. */
class PausedAddressesTest {

    private static final String HOST = "192.0.2.1";
    private static final String HANDSHAKE = GREETING + ready("ROUTER");

    private final ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(100_000);
    private final ZMTPHandshakeLimiter limiter = new ZMTPHandshakeLimiter();
    private final PausedAddresses addresses = new PausedAddresses();

    private ZMTPCodec codec() {
        return ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .maxFrameLength((int) budget.limit())
                .build();
    }

    private ScriptedPeer connect(String address, ChannelHandler... before) {
        ChannelHandler[] handlers = Arrays.copyOf(before, before.length + 2);
        handlers[before.length] = limiter;
        handlers[before.length + 1] = codec();
        return new ScriptedPeer(new AddressedChannel(address, 5000), handlers);
    }

    /** Two peers at this address together exceed the budget. */
    private void exceed(String address) {
        exceed(connect(address), connect(address));
    }

    private static void exceed(ScriptedPeer first, ScriptedPeer second) {
        try (first;
                second) {
            first.send(HANDSHAKE).send("02 00*5 01 5f 90 61*80000");
            second.send(HANDSHAKE).send("02 00*5 01 5f 90 61*30000");
            first.channel.runPendingTasks();
            assertThat(first.failures)
                    .singleElement()
                    .extracting(failure -> ((ZMTPException) failure).code())
                    .isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
        }
    }

    private static void waitForTheEnd(ScriptedPeer peer) {
        peer.channel.advanceTimeBy(1, TimeUnit.SECONDS);
        peer.channel.runScheduledPendingTasks();
    }

    /** Counts the reads that reach the transport. */
    private static final class Reads extends ChannelOutboundHandlerAdapter {
        private int count;

        @Override
        public void read(ChannelHandlerContext ctx) {
            count++;
            ctx.read();
        }
    }

    @Test
    void nothingOfTheNextConnectionOfTheAddressIsReadUntilThePauseIsOver() {
        exceed(HOST);
        Reads reads = new Reads();
        try (ScriptedPeer next = connect(HOST, reads)) {
            next.channel.read();
            assertThat(reads.count).isZero();
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(1);
            next.channel.read();
            assertThat(reads.count).isEqualTo(2);
            next.send(HANDSHAKE);
            assertThat(next.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
        }
    }

    @Test
    void aConnectionThatNeedsMoreThanTheBudgetByItselfHasThoseAfterItWaitToo() {
        try (ScriptedPeer greedy = connect(HOST)) {
            greedy.send(HANDSHAKE).send("02 00*5 01 86 a0 61*50000"); // half of 100,000 bytes
            assertThat(greedy.failures)
                    .singleElement()
                    .extracting(failure -> ((ZMTPException) failure).code())
                    .isEqualTo(ZMTPException.Code.MEMORY_BUDGET);
        }
        Reads reads = new Reads();
        try (ScriptedPeer next = connect(HOST, reads)) {
            next.channel.read();
            assertThat(reads.count).isZero();
        }
    }

    @Test
    void withoutALimiterNoConnectionWaits() {
        exceed(HOST);
        Reads reads = new Reads();
        try (ScriptedPeer next = new ScriptedPeer(new AddressedChannel(HOST, 5000), reads, codec())) {
            next.channel.read();
            assertThat(reads.count).isEqualTo(1);
        }
    }

    @Test
    void withAutoReadOffTheHandshakeReadsWhenThePauseIsOver() {
        exceed(HOST);
        Reads reads = new Reads();
        AddressedChannel channel = new AddressedChannel(HOST, 5000);
        channel.config().setAutoRead(false);
        try (ScriptedPeer next = new ScriptedPeer(channel, reads, limiter, codec())) {
            channel.runPendingTasks();
            assertThat(reads.count).isZero();
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(1);
        }
    }

    @Test
    void withAutoReadOffAReadBringsOneMessageAlsoAfterAPause() {
        exceed(HOST);
        Reads reads = new Reads();
        AddressedChannel channel = new AddressedChannel(HOST, 5000);
        channel.config().setAutoRead(false);
        try (ScriptedPeer next = new ScriptedPeer(channel, reads, limiter, codec())) {
            waitForTheEnd(next);
            next.send(HANDSHAKE);
            int before = reads.count;
            channel.read();
            next.send("00 01 61");
            assertThat(next.messages).containsExactly("message 61");
            assertThat(reads.count).isEqualTo(before + 1);
        }
    }

    @Test
    void withAutoReadOffAReadInThePauseBringsOneMessageToo() {
        exceed(HOST);
        Reads reads = new Reads();
        AddressedChannel channel = new AddressedChannel(HOST, 5000);
        channel.config().setAutoRead(false);
        try (ScriptedPeer next = new ScriptedPeer(channel, reads, limiter, codec())) {
            channel.read();
            waitForTheEnd(next);
            next.send(HANDSHAKE);
            int before = reads.count;
            next.send("00 01 61");
            assertThat(next.messages).containsExactly("message 61");
            assertThat(reads.count).isEqualTo(before);
        }
    }

    /** The codec was added late, and the transport reads already. Nothing is kept for later. */
    @Test
    void whatIsReadNeverthelessEndsThePause() {
        exceed(HOST);
        Reads reads = new Reads();
        try (ScriptedPeer next = connect(HOST, reads)) {
            next.channel.read();
            next.send(HANDSHAKE).send("00 01 61");
            assertThat(next.messages).containsExactly("message 61");
            int before = reads.count;
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(before);
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void bytesThatComeBeforeTheChannelIsActiveAreNotLost() {
        exceed(HOST);
        AddressedChannel channel = new AddressedChannel(HOST, 5000) {
            @Override
            public boolean isActive() {
                return isOpen() && pipeline().get("recorder") != null; // when all handlers are there
            }
        };
        try (ScriptedPeer next = new ScriptedPeer(channel, limiter, codec())) {
            next.send(HANDSHAKE + "00 01 61");
            assertThat(next.messages).containsExactly("message 61");
        }
    }

    @Test
    void writesInThePauseAreHeld() {
        exceed(HOST);
        try (ScriptedPeer next = connect(HOST)) {
            next.channel.writeAndFlush(ZMTPMessage.fromUTF8("a"));
            waitForTheEnd(next);
            next.received();
            next.send(HANDSHAKE);
            assertThat(next.received()).endsWith("000161");
        }
    }

    @Test
    void halfOfTheTimeForTheHandshakeIsLeftAfterThePause() {
        exceed(HOST);
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .handshakeTimeout(Duration.ofMillis(200))
                .build();
        Reads reads = new Reads();
        try (ScriptedPeer next = new ScriptedPeer(new AddressedChannel(HOST, 5000), reads, limiter, codec)) {
            next.channel.read();
            next.channel.advanceTimeBy(99, TimeUnit.MILLISECONDS);
            next.channel.runScheduledPendingTasks();
            assertThat(reads.count).isZero();
            next.channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
            next.channel.runScheduledPendingTasks();
            assertThat(reads.count).isEqualTo(1);
            next.channel.advanceTimeBy(100, TimeUnit.MILLISECONDS);
            next.channel.runScheduledPendingTasks();
            assertThat(next.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessageContaining("within 200 ms");
        }
    }

    @Test
    void theWholePauseIsWaitedForIfTheHandshakeMayTakeForever() {
        exceed(HOST);
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .handshakeTimeout(Duration.ZERO)
                .build();
        Reads reads = new Reads();
        try (ScriptedPeer next = new ScriptedPeer(new AddressedChannel(HOST, 5000), reads, limiter, codec)) {
            next.channel.read();
            next.channel.runScheduledPendingTasks();
            assertThat(reads.count).isZero();
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(1);
        }
    }

    @Test
    void aConnectionThatIsClosedInThePauseFails() {
        exceed(HOST);
        try (ScriptedPeer next = connect(HOST)) {
            next.channel.read();
            next.channel.close();
            assertThat(next.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessage(
                            "handshake with /192.0.2.1:5000 ended by this side (phase: greeting, nothing received)");
            assertThat(next.failures).isEmpty();
        }
        assertThat(budget.used()).isZero();
    }

    @Test
    void aCodecThatIsRemovedInThePauseIssuesTheReadThatWasWithheld() {
        exceed(HOST);
        Reads reads = new Reads();
        try (ScriptedPeer next = connect(HOST, reads)) {
            next.channel.read();
            next.channel.pipeline().remove("codec");
            assertThat(reads.count).isEqualTo(1);
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(1);
        }
    }

    @Test
    void twoLimitersPauseAConnectionOnce() {
        exceed(HOST);
        Reads reads = new Reads();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(budget)
                .handshakeTimeout(Duration.ofMillis(200))
                .build();
        ChannelHandler second = new ZMTPConnectionLimiter(10, 10, 10);
        try (ScriptedPeer next = new ScriptedPeer(new AddressedChannel(HOST, 5000), reads, second, limiter, codec)) {
            next.channel.read();
            next.channel.advanceTimeBy(100, TimeUnit.MILLISECONDS);
            next.channel.runScheduledPendingTasks();
            assertThat(reads.count).isEqualTo(1);
        }
    }

    /** Otherwise strangers in their pause would displace honest peers, and their timers would keep them in memory. */
    @Test
    void aConnectionInItsPauseIsDroppedLikeAnyOtherAndLeavesNothing() {
        exceed(HOST);
        ZMTPHandshakeLimiter two = new ZMTPHandshakeLimiter(2, 2);
        ScriptedPeer next = new ScriptedPeer(new AddressedChannel(HOST, 5000), two, codec());
        next.channel.read();
        try (ScriptedPeer second = new ScriptedPeer(new AddressedChannel(HOST, 5001), two, codec());
                ScriptedPeer newcomer = new ScriptedPeer(new AddressedChannel("192.0.2.9", 5002), two, codec())) {
            assertThat(second.channel.isOpen()).isTrue();
            newcomer.channel.runPendingTasks();
            assertThat(next.channel.isOpen()).isFalse();
            assertThat(next.channel.runScheduledPendingTasks()).isNegative();
        }
        next.close();
    }

    @Test
    void aConnectionThatIsResetInItsPauseLeavesNothing() {
        exceed(HOST);
        try (ScriptedPeer next = connect(HOST)) {
            next.channel.read();
            next.channel.unsafe().close(next.channel.voidPromise());
            next.channel.runPendingTasks();
            assertThat(next.channel.runScheduledPendingTasks()).isNegative();
        }
    }

    @Test
    void afterAProxyThePauseIsThatOfTheAddressInItsHeader() {
        exceed(HOST);
        Reads reads = new Reads();
        ZMTPHandshakeLimiter byHeader = new ZMTPHandshakeLimiter() {
            @Override
            protected @Nullable SocketAddress peerAddress(Channel channel) {
                return channel.attr(ZMTPCodec.PEER_ADDRESS).get();
            }
        };
        ChannelHandler header = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.channel().attr(ZMTPCodec.PEER_ADDRESS).set(AddressedChannel.address(HOST, 5000));
                ReferenceCountUtil.release(msg);
                ctx.pipeline().remove(this);
            }
        };
        try (ScriptedPeer next =
                new ScriptedPeer(new AddressedChannel("198.51.100.1", 1), reads, byHeader, header, codec())) {
            next.channel.read();
            assertThat(reads.count).isEqualTo(1);
            next.channel.pipeline().fireChannelRead(Hex.buffer("01"));
            next.channel.read();
            assertThat(reads.count).isEqualTo(1);
            waitForTheEnd(next);
            assertThat(reads.count).isEqualTo(2);
        }
    }

    /** A server does not return at once, and what fills the memory of a client may be its own. */
    @Test
    void theConnectionsOfAClientAreNeitherPausedNorPauseOthers() {
        exceed(new ScriptedPeer(new ClientChannel(), codec()), new ScriptedPeer(new ClientChannel(), codec()));
        Reads reads = new Reads();
        try (ScriptedPeer accepted = connect(HOST, reads)) {
            accepted.channel.read();
            assertThat(reads.count).isEqualTo(1);
        }
        exceed(HOST);
        Reads ofClient = new Reads();
        try (ScriptedPeer client = new ScriptedPeer(new ClientChannel(), ofClient, limiter, codec())) {
            client.channel.read();
            assertThat(ofClient.count).isEqualTo(1);
        }
    }

    private static final class ClientChannel extends AddressedChannel {
        private ClientChannel() {
            super(HOST, 5000);
        }

        @Override
        public @Nullable Channel parent() {
            return null;
        }
    }

    @Test
    void otherAddressesDoNotWait() {
        exceed(HOST);
        try (ScriptedPeer other = connect("192.0.2.2").send(HANDSHAKE)) {
            assertThat(other.onlyEvent(ZMTPHandshakeSuccess.class)).isNotNull();
        }
    }

    @Test
    void connectionsWithAnotherBudgetDoNotWait() {
        exceed(HOST);
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(DEALER)
                .memoryBudget(ZMTPMemoryBudget.of(1))
                .build();
        Reads reads = new Reads();
        try (ScriptedPeer other = new ScriptedPeer(new AddressedChannel(HOST, 5000), reads, limiter, codec)) {
            other.channel.read();
            assertThat(reads.count).isEqualTo(1);
        }
    }

    private static @Nullable SocketAddress host(int number) {
        return AddressedChannel.address("198.51." + number / 250 + "." + number % 250, 1);
    }

    @Test
    void aPauseIsOverAfterASecond() {
        long start = Long.MAX_VALUE - 10; // nanoTime may be anything
        addresses.add(host(1), start);
        assertThat(addresses.left(host(1), start)).isEqualTo(PausedAddresses.PAUSE);
        assertThat(addresses.left(host(1), start + PausedAddresses.PAUSE - 1)).isEqualTo(1);
        assertThat(addresses.left(host(1), start + PausedAddresses.PAUSE)).isZero();
    }

    @Test
    void aPauseIsTwiceAsLongAsOneJustBeforeIt() {
        long second = PausedAddresses.PAUSE;
        addresses.add(host(1), 0);
        addresses.add(host(1), second);
        assertThat(addresses.left(host(1), second)).isEqualTo(2 * second);
        addresses.add(host(1), 5 * second - 1);
        assertThat(addresses.left(host(1), 5 * second - 1)).isEqualTo(4 * second);
        addresses.add(host(1), 10 * second);
        assertThat(addresses.left(host(1), 10 * second)).isEqualTo(8 * second);
        addresses.add(host(1), 19 * second);
        assertThat(addresses.left(host(1), 19 * second)).isEqualTo(PausedAddresses.MAX_PAUSE);
    }

    @Test
    void aPauseThatBeginsAgainBeforeItsEndIsNoLonger() {
        addresses.add(host(1), 0);
        addresses.add(host(1), PausedAddresses.PAUSE - 1);
        assertThat(addresses.left(host(1), PausedAddresses.PAUSE - 1)).isEqualTo(PausedAddresses.PAUSE);
    }

    @Test
    void aPauseIsForgottenAfterAsLongAgain() {
        addresses.add(host(1), 0);
        assertThat(addresses.left(host(1), 2 * PausedAddresses.PAUSE - 1)).isZero();
        assertThat(addresses.size()).isEqualTo(1);
        addresses.add(host(1), 2 * PausedAddresses.PAUSE);
        assertThat(addresses.left(host(1), 2 * PausedAddresses.PAUSE)).isEqualTo(PausedAddresses.PAUSE);
        assertThat(addresses.left(host(1), 4 * PausedAddresses.PAUSE)).isZero();
        assertThat(addresses.size()).isZero();
    }

    @Test
    void anIpv6AddressIsPausedWithItsNetwork() {
        addresses.add(AddressedChannel.address("2001:db8::1", 1), 0);
        assertThat(addresses.left(AddressedChannel.address("2001:db8::2", 2), 0))
                .isEqualTo(PausedAddresses.PAUSE);
        assertThat(addresses.left(AddressedChannel.address("2001:db8:0:1::1", 1), 0))
                .isZero();
    }

    @Test
    void aConnectionWithoutAnAddressIsNeverPaused() {
        addresses.add(null, 0);
        assertThat(addresses.left(null, 0)).isZero();
        assertThat(addresses.size()).isZero();
    }

    @Test
    void anAddressThatExceedsAgainIsTheLastToBeForgotten() {
        for (int i = 0; i < 1_024; i++) {
            addresses.add(host(i), 0);
        }
        addresses.add(host(0), 1);
        addresses.add(host(1_024), 2);
        assertThat(addresses.left(host(0), 3)).isPositive();
        assertThat(addresses.left(host(1), 3)).isZero();
    }

    @Test
    void ofManyAddressesThoseThatWerePausedFirstAreForgotten() {
        for (int i = 0; i < 2_000; i++) {
            addresses.add(host(i), i);
            addresses.add(host(0), i);
        }
        assertThat(addresses.size()).isEqualTo(1_024);
        assertThat(addresses.left(host(0), 2_000)).isPositive();
        assertThat(addresses.left(host(1), 2_000)).isZero();
        assertThat(addresses.left(host(1_999), 2_000)).isPositive();
    }
}
