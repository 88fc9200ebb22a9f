package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPVersion.ZMTP10;
import static dev.zmtp.ZMTPVersion.ZMTP20;
import static dev.zmtp.ZMTPVersion.ZMTP30;
import static dev.zmtp.ZMTPVersion.ZMTP31;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.EncoderException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Subscriptions and memberships are values on our side, and travel in the form that the version demands. */
class SubscriptionTest {

    static List<Arguments> received() {
        List<Arguments> all = new ArrayList<>();
        for (ZMTPSocketType type : List.of(PUB, XPUB)) {
            for (ZMTPVersion version : List.of(ZMTP30, ZMTP31)) {
                all.add(Arguments.of(type, version, "04 0c 09 \"SUBSCRIBE\" 41 42", "subscribe 4142"));
                all.add(Arguments.of(type, version, "04 0a 09 \"SUBSCRIBE\"", "subscribe "));
                all.add(Arguments.of(type, version, "04 09 06 \"CANCEL\" 41 42", "cancel 4142"));
                all.add(Arguments.of(type, version, "06 00*7 07 06 \"CANCEL\"", "cancel "));
            }
            for (ZMTPVersion version : List.of(ZMTP20, ZMTP30, ZMTP31)) {
                all.add(Arguments.of(type, version, "00 03 01 41 42", "subscribe 4142"));
                all.add(Arguments.of(type, version, "00 03 00 41 42", "cancel 4142"));
                all.add(Arguments.of(type, version, "00 01 01", "subscribe "));
                all.add(Arguments.of(type, version, "02 00*7 01 00", "cancel "));
            }
            all.add(Arguments.of(type, ZMTP10, "04 00 01 41 42", "subscribe 4142"));
            all.add(Arguments.of(type, ZMTP10, "04 00 00 41 42", "cancel 4142"));
        }
        return all;
    }

    @ParameterizedTest(name = "{0} from {1}: {2}")
    @MethodSource("received")
    void publishersAcceptBothFormsFromPeersOfAnyVersion(
            ZMTPSocketType type, ZMTPVersion version, String bytes, String heard) {
        try (ScriptedPeer peer = InTraffic.as(type).peer(version).start()) {
            peer.messages.clear(); // the subscription of a peer that cannot send one
            peer.send(bytes);
            assertThat(peer.messages).containsExactly(heard);
        }
    }

    /** Version, topic length, and the bytes that subscribe to and cancel the topic of that many "t". */
    static List<Arguments> written() {
        return List.of(
                Arguments.of(ZMTP31, 0, "04 0a 09 \"SUBSCRIBE\"", "04 07 06 \"CANCEL\""),
                Arguments.of(ZMTP31, 245, "04 ff 09 \"SUBSCRIBE\"", "04 fc 06 \"CANCEL\""),
                Arguments.of(ZMTP31, 246, "06 00*6 01 00 09 \"SUBSCRIBE\"", "04 fd 06 \"CANCEL\""),
                Arguments.of(ZMTP31, 248, "06 00*6 01 02 09 \"SUBSCRIBE\"", "04 ff 06 \"CANCEL\""),
                Arguments.of(ZMTP31, 249, "06 00*6 01 03 09 \"SUBSCRIBE\"", "06 00*6 01 00 06 \"CANCEL\""),
                Arguments.of(ZMTP31, 5000, "06 00*6 13 92 09 \"SUBSCRIBE\"", "06 00*6 13 8f 06 \"CANCEL\""),
                Arguments.of(ZMTP30, 0, "00 01 01", "00 01 00"),
                Arguments.of(ZMTP30, 254, "00 ff 01", "00 ff 00"),
                Arguments.of(ZMTP30, 255, "02 00*6 01 00 01", "02 00*6 01 00 00"),
                Arguments.of(ZMTP30, 256, "02 00*6 01 01 01", "02 00*6 01 01 00"),
                Arguments.of(ZMTP30, 5000, "02 00*6 13 89 01", "02 00*6 13 89 00"),
                Arguments.of(ZMTP20, 0, "00 01 01", "00 01 00"),
                Arguments.of(ZMTP20, 255, "02 00*6 01 00 01", "02 00*6 01 00 00"),
                Arguments.of(ZMTP10, 0, "02 00 01", "02 00 00"),
                Arguments.of(ZMTP10, 252, "fe 00 01", "fe 00 00"),
                Arguments.of(ZMTP10, 253, "ff 00*7 ff 00 01", "ff 00*7 ff 00 00"),
                Arguments.of(ZMTP10, 5000, "ff 00*6 13 8a 00 01", "ff 00*6 13 8a 00 00"));
    }

    @ParameterizedTest(name = "to {0}, {1} bytes")
    @MethodSource("written")
    void aSubscriptionIsSentInTheFormOfTheVersion(ZMTPVersion version, int length, String subscribe, String cancel) {
        try (ScriptedPeer peer = InTraffic.as(SUB).peer(version).start()) {
            String topic = "t".repeat(length);
            ChannelFuture subscribed = peer.channel.write(ZMTPSubscription.subscribe(topic));
            ChannelFuture cancelled = peer.channel.write(ZMTPSubscription.cancel(topic));
            peer.channel.flush();
            assertThat(peer.received())
                    .isEqualTo(Hex.of(subscribe + " 74*" + length + " / " + cancel + " 74*" + length));
            assertThat(subscribed.isSuccess()).isTrue();
            assertThat(cancelled.isSuccess()).isTrue();
        }
    }

    @Test
    void theWriteOfALargeTopicCompletesWithTheTransportsResult() {
        try (ScriptedPeer peer = InTraffic.as(SUB).start()) {
            ChannelFuture subscribed = peer.channel.write(ZMTPSubscription.subscribe("t".repeat(5000)));
            assertThat(subscribed.isDone()).isFalse();
            peer.channel.flush();
            assertThat(subscribed.isSuccess()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"SUB", "XSUB"})
    void onlySubscribersMayWriteSubscriptions(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            ChannelFuture write = peer.channel.writeAndFlush(ZMTPSubscription.subscribe("a"));
            assertThat(write.cause()).isInstanceOf(EncoderException.class).hasMessageContaining("on a " + type);
            assertThat(peer.received()).isEmpty();
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(value = ZMTPSocketType.class, mode = EnumSource.Mode.EXCLUDE, names = "DISH")
    void onlyDishesMayWriteMemberships(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            ChannelFuture write = peer.channel.writeAndFlush(ZMTPMembership.join("a"));
            assertThat(write.cause()).isInstanceOf(EncoderException.class).hasMessageContaining("on a " + type);
            assertThat(peer.received()).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "00 03 02 41 42, message 024142", // neither 01 nor 00 in front
        "00 00, message -", // no leading byte
        "01 01 42 00 02 01 41, message 42 0141" // not the first frame
    })
    void anythingButASubscriptionIsAMessageForAnXpub(String bytes, String heard) {
        try (ScriptedPeer peer = InTraffic.as(XPUB).start()) {
            peer.send(bytes);
            assertThat(peer.messages).containsExactly(heard);
        }
    }

    /** As libzmq takes it, and as programs send it. */
    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "XPUB, 01 02 01 41 / 00 01 64, subscribe 41; message 64",
        "XPUB, 01 02 01 41 / 01 01 64 / 00 01 65, subscribe 41; message 64 65",
        "XPUB, 01 02 01 41 / 01 02 00 42 / 00 02 01 43, subscribe 41; cancel 42; subscribe 43",
        "PUB, 01 02 01 41 / 00 01 64, subscribe 41",
        "PUB, 01 02 01 41 / 01 02 01 42 / 00 02 01 43, subscribe 41; subscribe 42; subscribe 43",
    })
    void whatFollowsASubscriptionInItsMessageIsAnotherMessage(ZMTPSocketType type, String bytes, String heard) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            peer.send(bytes).send("00 02 01 7a");
            assertThat(String.join("; ", peer.messages)).isEqualTo(heard + "; subscribe 7a");
        }
    }

    /** Each is counted as a message of its own, so no limit of one message ends them. */
    @Test
    void aChainOfSubscriptionsMayBeLongerThanAMessage() {
        try (ScriptedPeer peer = InTraffic.as(PUB)
                .set(codec -> codec.maxMessageFrames(2).maxSubscriptions(4))
                .start()) {
            peer.send("01 02 01 41 / 01 02 01 42 / 01 02 01 43 / 00 02 01 44");
            assertThat(peer.messages).hasSize(4);
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "PUSH", "RADIO", "SCATTER"})
    void sendOnlySocketsDropMessages(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            ByteBuf read = Hex.buffer("00 02 02 61 / 01 00 00 01 62 / 02 00*6 28 00 63*10240 / 01 02 64");
            peer.channel.writeInbound(read);
            peer.send("65 00 00 / 04 07 04 \"PING\" 00 00");
            assertThat(peer.messages).isEmpty();
            assertThat(read.refCnt()).isZero();
            assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PULL", "SUB", "ROUTER", "PAIR", "XSUB"})
    void onlyPublishersTakeAMessageForASubscription(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            peer.send("00 02 01 41");
            assertThat(peer.messages).containsExactly("message 0141");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XPUB"})
    void aPeerWithoutGreetingSubscribesToEverything(ZMTPSocketType type) {
        List<Object> order = new ArrayList<>();
        EmbeddedChannel channel = new EmbeddedChannel(ZMTPCodec.of(type), new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                order.add(evt.getClass());
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                order.add(msg);
            }
        });
        channel.writeInbound(Hex.buffer("01 00"));
        assertThat(order).containsExactly(ZMTPHandshakeSuccess.class, ZMTPSubscription.subscribe(""));
        channel.finishAndReleaseAll();
    }

    @Test
    void aPeerOf10FramingWithAGreetingSubscribesItself() {
        try (EmbeddedPub pub = new EmbeddedPub()) {
            pub.channel.writeInbound(Hex.buffer("ff 00*7 01 7f 00 02 / 01 00 / 02 00 01"));
            assertThat(pub.heard).containsExactly(ZMTPSubscription.subscribe(""));
            pub.channel.writeInbound(Hex.buffer("03 00 01 41"));
            assertThat(pub.heard).hasSize(2);
        }
    }

    private static final class EmbeddedPub implements AutoCloseable {
        private final List<Object> heard = new ArrayList<>();
        private final EmbeddedChannel channel =
                new EmbeddedChannel(ZMTPCodec.of(PUB), new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        heard.add(msg);
                    }
                });

        @Override
        public void close() {
            channel.finishAndReleaseAll();
        }
    }

    @ParameterizedTest
    @EnumSource(value = ZMTPVersion.class, names = "ZMTP10", mode = EnumSource.Mode.EXCLUDE)
    void aPeerOfALaterVersionIsNotSubscribedByItself(ZMTPVersion version) {
        try (ScriptedPeer peer = InTraffic.as(PUB).peer(version).start()) {
            assertThat(peer.messages).isEmpty();
        }
    }

    @Test
    void onlyPublishersGetTheSubscriptionOfAnUnversionedPeer() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).peer(ZMTP10).start()) {
            assertThat(peer.messages).isEmpty();
        }
    }

    @Test
    void radiosGetMemberships() {
        try (ScriptedPeer peer = InTraffic.as(RADIO).start()) {
            peer.send("04 06 04 \"JOIN\" 67 / 04 07 05 \"LEAVE\" 67 / 06 00*6 01 04 04 \"JOIN\" 68*255");
            assertThat(peer.messages).containsExactly("join 67", "leave 67", "join " + Hex.of("68*255"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"06 00*6 01 05 04 \"JOIN\" 68*256", "06 00*6 01 06 05 \"LEAVE\" 68*256"})
    void aGroupOfMoreThan255BytesEndsTheConnection(String command) {
        try (ScriptedPeer peer = InTraffic.as(RADIO).start()) {
            Failures.assertTooLarge(peer.send(command));
        }
    }

    @ParameterizedTest(name = "{0} bytes")
    @CsvSource({
        "0, 04 05 04 4a4f494e, 04 06 05 4c45415645",
        "1, 04 06 04 4a4f494e, 04 07 05 4c45415645",
        "249, 04 fe 04 4a4f494e, 04 ff 05 4c45415645",
        "250, 04 ff 04 4a4f494e, 06 00*6 01 00 05 4c45415645",
        "251, 06 00*6 01 00 04 4a4f494e, 06 00*6 01 01 05 4c45415645",
        "255, 06 00*6 01 04 04 4a4f494e, 06 00*6 01 05 05 4c45415645"
    })
    void aMembershipIsSentAsACommand(int length, String join, String leave) {
        try (ScriptedPeer peer = InTraffic.as(DISH).start()) {
            peer.channel.write(ZMTPMembership.join("g".repeat(length)));
            ChannelFuture left = peer.channel.writeAndFlush(ZMTPMembership.leave("g".repeat(length)));
            assertThat(peer.received()).isEqualTo(Hex.of(join + " 67*" + length + " / " + leave + " 67*" + length));
            assertThat(left.isSuccess()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PUB", "XPUB"})
    void aCancelWithoutASubscriptionIsFiredAsItCame(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            peer.send("04 08 06 \"CANCEL\" 41 / 04 08 06 \"CANCEL\" 41 / 00 02 00 42");
            assertThat(peer.messages).containsExactly("cancel 41", "cancel 41", "cancel 42");
            assertThat(peer.failures).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "XPUB, 0a, subscribe 747474747474747474",
        "PUB, 0a, subscribe 747474747474747474",
        "XPUB, 0b, message 0174747474747474747474",
        "PUB, 0b, "
    })
    void anOldSubscriptionThatIsTooLongForACommandIsAMessage(ZMTPSocketType type, String length, String heard) {
        try (ScriptedPeer peer =
                InTraffic.as(type).set(codec -> codec.maxCommandLength(19)).start()) {
            peer.send("00 " + length + " 01 74*" + (Integer.parseInt(length, 16) - 1));
            assertThat(peer.messages).isEqualTo(heard == null ? List.of() : List.of(heard));
            assertThat(peer.failures).isEmpty();
        }
    }

    /** libzmq, to peers before 3.1: eight bytes of length after flags without LONG. */
    @ParameterizedTest
    @EnumSource(value = ZMTPVersion.class, names = "ZMTP10", mode = EnumSource.Mode.EXCLUDE)
    void aWronglyFramedTopicOf255BytesEndsTheConnection(ZMTPVersion version) {
        try (ScriptedPeer peer = InTraffic.as(PUB).peer(version).start()) {
            Failures.assertMalformed(peer.send("00 00*6 01 00 01 74*255"));
            assertThat(peer.messages).doesNotContain("subscribe " + Hex.of("74*255"));
        }
    }

    @Test
    void aSubscriptionCommandToANonPublisherIsDropped() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).start()) {
            peer.send("04 0b 09 \"SUBSCRIBE\" 41 / 04 07 06 \"CANCEL\" / 04 05 04 \"JOIN\"");
            assertThat(peer.messages).isEmpty();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void aSubscriptionFailsIfThereIsNoMemoryForIt() {
        FullAllocator alloc = new FullAllocator();
        try (ScriptedPeer peer = InTraffic.as(SUB).allocator(alloc).start()) {
            alloc.full = true;
            ChannelFuture written = peer.channel.write(ZMTPSubscription.subscribe("topic"));
            alloc.full = false;

            assertThat(written.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasRootCauseInstanceOf(OutOfMemoryError.class);
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }
}
