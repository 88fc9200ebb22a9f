package dev.zmtp.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPProtocols;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What {@code docs/migrating.md} says of programs that were written for netty4-zmtp. */
class MigrationTest {

    /** What a PUB of netty4-zmtp greets with: 02 means SUB. */
    private static final String PUB_OF_THE_PREDECESSOR = "ff 00*7 01 7f / 01 02 / 00 00";

    @ParameterizedTest
    @EnumSource
    void aSubscriptionMayBeWrittenAsAMessage(ZMTPVersion version) {
        ZMTPCodec sub = ZMTPCodec.builder()
                .protocol(version)
                .socketType(ZMTPSocketType.SUB)
                .build();
        try (CodecPair peers = new CodecPair(sub, ZMTPCodec.of(ZMTPSocketType.PUB)).exchange()) {
            peers.right.messages.clear(); // the subscription that a 1.0 peer cannot send

            peers.left.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("01 \"topic\"")));
            peers.left.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("00 \"topic\"")));
            peers.exchange();

            assertThat(peers.right.messages)
                    .containsExactly(ZMTPSubscription.subscribe("topic"), ZMTPSubscription.cancel("topic"));
        }
    }

    @Test
    void theCodecIsStillInThePipelineWhenTheHandshakeIsComplete() {
        ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
        List<ZMTPCodec> found = new ArrayList<>();
        try (CodecPair peers = new CodecPair(codec, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            peers.left.channel.pipeline().addAfter(codecName(peers), null, new ChannelInboundHandlerAdapter() {
                @Override
                public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                    if (evt instanceof ZMTPHandshakeSuccess) {
                        found.add(ctx.pipeline().get(ZMTPCodec.class));
                    }
                }
            });

            peers.exchange();

            assertThat(found).containsExactly(codec);
            assertThat(codec.session().negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP31);
        }
    }

    private static String codecName(CodecPair peers) {
        return peers.left.channel.pipeline().context(ZMTPCodec.class).name();
    }

    @Test
    void aSessionServesOneConnectionOnly() {
        ZMTPCodec first = ZMTPCodec.of(ZMTPSocketType.DEALER);
        try (CodecPair peers = new CodecPair(first, ZMTPCodec.of(ZMTPSocketType.DEALER)).exchange()) {
            peers.right.channel.pipeline().addFirst(ZMTPCodec.from(first.session()));

            assertThat(peers.right.failures)
                    .singleElement()
                    .satisfies(failure -> assertThat(failure)
                            .hasMessageEndingWith("has thrown an exception; removed.")
                            .hasRootCauseMessage("the session is already used by another channel"));
            assertThat(first.session().negotiatedVersion()).isEqualTo(ZMTPVersion.ZMTP31);
        }
    }

    @Test
    void aMessageWrittenBeforeTheHandshakeLeavesAfterIt() {
        try (CodecPair peers =
                new CodecPair(ZMTPCodec.of(ZMTPSocketType.DEALER), ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            ChannelFuture written = peers.left.channel.writeAndFlush(ZMTPMessage.fromUTF8("early"));

            peers.exchange();

            assertThat(written.isSuccess()).isTrue();
            assertThat(peers.right.messages).singleElement().isInstanceOfSatisfying(ZMTPMessage.class, message -> {
                assertThat(message.frame(0).toString(StandardCharsets.UTF_8)).isEqualTo("early");
                message.release();
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void theIdentityOfAReplierTravelsBefore30Only(ZMTPVersion version) {
        ZMTPCodec req = ZMTPCodec.of(ZMTPSocketType.REQ);
        ZMTPCodec rep = ZMTPCodec.builder()
                .protocol(version)
                .socketType(ZMTPSocketType.REP)
                .localIdentity("replier")
                .build();
        try (CodecPair peers = new CodecPair(req, rep).exchange()) {
            assertThat(peers.left.events).hasSize(1);
            assertThat(req.session().isPeerAnonymous()).isEqualTo(version.hasCommands());
        }
    }

    @Test
    void aPublisherOfThePredecessorIsTakenForASubscriber() {
        EmbeddedChannel channel = new EmbeddedChannel();
        List<Object> events = events(channel, ZMTPCodec.of(ZMTPSocketType.SUB));

        channel.writeInbound(Hex.buffer(PUB_OF_THE_PREDECESSOR));

        assertThat(Failures.failureOf(channel, events).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
        channel.finishAndReleaseAll();
    }

    @Test
    void aSubscriberOf10UnderstandsAPublisherOfThePredecessor() {
        EmbeddedChannel channel = new EmbeddedChannel();
        List<Object> events = events(
                channel,
                ZMTPCodec.builder()
                        .protocol(ZMTPProtocols.ZMTP10)
                        .socketType(ZMTPSocketType.SUB)
                        .build());

        // It has seen our identity frame, and so sends the signature and no more: the header of its own.
        channel.writeInbound(Hex.buffer("ff 00*7 01 7f"));

        assertThat(events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        channel.finishAndReleaseAll();
    }

    private static List<Object> events(EmbeddedChannel channel, ZMTPCodec codec) {
        List<Object> events = new ArrayList<>();
        channel.pipeline().addLast(codec, new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                events.add(evt);
            }
        });
        return events;
    }

    @Test
    void aDecoderThatReadsPartOfAFrameIsCalledAgainAtOnce() {
        Nibbler nibbler = new Nibbler(data -> data.skipBytes(Math.min(2, data.readableBytes())));
        try (CodecPair peers = pushTo(nibbler)) {
            peers.left.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("01 02 03 04 05")));
            peers.exchange();

            assertThat(nibbler.given).containsExactly("0102030405", "030405", "05");
        }
    }

    @Test
    void aDecoderThatReadsNothingIsCalledAgainWhenMoreArrives() {
        Nibbler nibbler = new Nibbler(data -> {});
        try (CodecPair peers = pushTo(nibbler)) {
            peers.right.channel.writeInbound(Hex.buffer("00 03 01"));
            peers.right.channel.writeInbound(Hex.buffer("02"));
            peers.right.channel.writeInbound(Hex.buffer("03"));

            assertThat(nibbler.given).containsExactly("01", "0102", "010203");
        }
    }

    @Test
    void aDecoderThatRemovesTheCodecIsNotCalledAgain() {
        List<CodecPair> connection = new ArrayList<>();
        Nibbler nibbler = new Nibbler(data -> {
            data.skipBytes(1);
            connection.get(0).right.channel.pipeline().remove(ZMTPCodec.class);
        });
        try (CodecPair peers = pushTo(nibbler)) {
            connection.add(peers);

            peers.right.channel.writeInbound(Hex.buffer("00 05 01 02 03"));

            assertThat(nibbler.given).containsExactly("010203");
            assertThat(nibbler.closed).isEqualTo(1);
        }
    }

    private static CodecPair pushTo(ZMTPDecoder decoder) {
        ZMTPCodec pull = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.PULL)
                .decoder(session -> decoder)
                .build();
        return new CodecPair(ZMTPCodec.of(ZMTPSocketType.PUSH), pull).exchange();
    }

    /** Notes what it is given. */
    private static final class Nibbler implements ZMTPDecoder {
        private final List<String> given = new ArrayList<>();
        private final Consumer<ByteBuf> appetite;
        private int closed;

        Nibbler(Consumer<ByteBuf> appetite) {
            this.appetite = appetite;
        }

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            given.add(ByteBufUtil.hexDump(data));
            appetite.accept(data);
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {
            closed++;
        }
    }
}
