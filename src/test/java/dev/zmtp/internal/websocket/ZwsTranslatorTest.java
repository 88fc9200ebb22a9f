package dev.zmtp.internal.websocket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.UnsupportedMessageTypeException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The start of a translation, and the buffers and promises on both sides. */
class ZwsTranslatorTest {

    private static final String KEY = "37 fa 21 3d ";

    // The start

    @ParameterizedTest
    @CsvSource({"NULL, 16", "PLAIN, 15", "CURVE, 15"})
    void aPeerWithAMechanismLooksLikeOneOfZmtp30(String mechanism, int padding) {
        try (TranslatedChannel end = new TranslatedChannel(WebSocketRole.CLIENT, config -> config)) {
            end.translator.start(new ZwsProtocol(mechanism));

            assertThat(end.zmtp())
                    .isEqualTo(Hex.of("ff 00*7 01 7f 03 00 \"%s\" 00*%d 00 00*31".formatted(mechanism, padding)))
                    .hasSize(2 * 64);
            assertThat(end.channel.attr(ZwsTranslator.TYPE_UNKNOWN).get()).isNull();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PAIR, 00",
        "PUB, 02",
        "SUB, 01",
        "REQ, 04",
        "REP, 03",
        "DEALER, 04",
        "ROUTER, 03",
        "PULL, 08",
        "PUSH, 07",
        "XPUB, 02",
        "XSUB, 01"
    })
    void aPeerWithoutAMechanismLooksLikeOneOfZmtp20OfATypeThatFits(ZMTPSocketType ours, String code) {
        try (TranslatedChannel end = new TranslatedChannel(WebSocketRole.SERVER, config -> config.socketType(ours))) {
            end.translator.start(ZwsProtocol.BARE);

            assertThat(end.zmtp()).isEqualTo(Hex.of("ff 00*7 01 7f 01 " + code));
            assertThat(end.channel.attr(ZwsTranslator.TYPE_UNKNOWN).get()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBufferOfTwoPartsIsTranslatedLikeOneOfASinglePart(WebSocketRole role) {
        String mask = role == WebSocketRole.CLIENT ? "" : "00*4";
        String lengths = role == WebSocketRole.CLIENT ? "02 03" : "82 83";
        byte[] frames = Hex.bytes("82 %s %s 00 61 / 82 %s %s 00 62 63"
                .formatted(lengths.substring(0, 2), mask, lengths.substring(3), mask));
        for (int cut = 1; cut < frames.length; cut++) {
            try (TranslatedChannel end = TranslatedChannel.open(role)) {
                ByteBuf parts = Unpooled.directBuffer().writeBytes(frames, 0, cut);
                ByteBuf rest = Unpooled.directBuffer().writeBytes(frames, cut, frames.length - cut);

                end.channel.writeInbound(Unpooled.wrappedBuffer(parts, rest));

                assertThat(end.zmtp()).as("cut at %d", cut).isEqualTo(Hex.of("00 01 61 / 00 02 62 63"));
            }
        }
    }

    @Test
    void theNamesOfTheProtocolsAreThoseOfRfc45() {
        assertThat(ZwsProtocol.BARE.text()).isEqualTo("ZWS2.0");
        assertThat(new ZwsProtocol("NULL").text()).isEqualTo("ZWS2.0/NULL");
    }

    @Test
    void nothingIsSentBeforeTheStartAndNoGreetingAfterIt() {
        ZMTPCodec codec = ZMTPCodec.of(DEALER);
        ZwsTranslator translator = new ZwsTranslator(WebSocketRole.SERVER, codec.session());
        try (ScriptedPeer peer = new ScriptedPeer(translator, codec)) {
            assertThat(peer.received()).isEmpty();
            translator.start(new ZwsProtocol("NULL"));

            byte[] ready = ZwsVector.frame("* READY of DEALER");
            assertThat(peer.received()).isEqualTo(ByteBufUtil.hexDump(ready));
            assertThatThrownBy(() -> translator.start(ZwsProtocol.BARE)).isInstanceOf(IllegalStateException.class);
            peer.channel.pipeline().remove(translator);
        }
    }

    @Test
    void theIdentityIsTheFirstFrameOfThoseWithoutAMechanism() {
        ZMTPCodec codec = ZMTPCodec.from(
                ZMTPConfig.builder().socketType(DEALER).localIdentity("abc").build());
        ZwsTranslator translator = new ZwsTranslator(WebSocketRole.CLIENT, codec.session(), () -> ZwsVector.KEY);
        try (ScriptedPeer peer = new ScriptedPeer(translator, codec)) {
            translator.start(ZwsProtocol.BARE);
            assertThat(peer.received()).isEqualTo(ByteBufUtil.hexDump(ZwsVector.frame("* identity abc")));

            peer.send("82 04 00 \"xyz\" / 82 02 01 61 / 82 02 00 62");
            assertThat(codec.session().peerIdentity())
                    .isEqualTo(Unpooled.copiedBuffer("xyz", StandardCharsets.US_ASCII)
                            .nioBuffer());
            assertThat(peer.messages).containsExactly("message 61 62");
            peer.channel.pipeline().remove(translator);
        }
    }

    @Test
    void aSubscriptionIsAMessageForPeersWithAndWithoutAMechanism() {
        for (ZwsProtocol protocol : List.of(ZwsProtocol.BARE, new ZwsProtocol("NULL"))) {
            ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.XPUB);
            ZwsTranslator translator = new ZwsTranslator(WebSocketRole.CLIENT, codec.session());
            try (ScriptedPeer peer = new ScriptedPeer(translator, codec)) {
                translator.start(protocol);
                peer.send(
                        protocol.mechanism() == null
                                ? "82 01 00"
                                : "82 1a 02 05 \"READY\" 0b \"Socket-Type\" 00 00 00 03 \"SUB\"");
                peer.send("82 03 00 01 41 / 82 03 00 00 41 / 82 02 00 01");

                assertThat(peer.messages).containsExactly("subscribe 41", "cancel 41", "subscribe ");
                peer.channel.pipeline().remove(translator);
            }
        }
    }

    @Test
    void bytesBeforeTheStartBelongToTheUpgrade() {
        try (TranslatedChannel end = new TranslatedChannel(WebSocketRole.CLIENT, config -> config)) {
            end.receive("82 01 00");

            assertThat(end.zmtp()).isEmpty();
        }
    }

    // Buffers of reads

    private static String frames(int count, String frame) {
        return (frame + " / ").repeat(count);
    }

    @ParameterizedTest
    @EnumSource
    void aReadOfManyShortFramesRemainsOneBuffer(WebSocketRole role) {
        String frame = role == WebSocketRole.SERVER ? "82 81 " + KEY + "37" : "82 01 00";
        try (TranslatedChannel end = TranslatedChannel.open(role)) {
            end.receive(frames(5000, frame));

            assertThat(end.codec.messages).hasSize(1);
            assertThat(end.zmtp()).isEqualTo("0000".repeat(5000));
        }
    }

    /** Receives the buffers that are passed to the codec. */
    private static final class Buffers extends ChannelInboundHandlerAdapter {
        private final List<ByteBuf> all = new ArrayList<>();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            all.add((ByteBuf) message);
        }

        private String dump() {
            return ByteBufUtil.hexDump(Unpooled.wrappedBuffer(all.toArray(new ByteBuf[0])));
        }
    }

    private static Buffers buffersOf(WebSocketRole role, ByteBuf in) {
        ZMTPSession session =
                ZMTPSession.from(ZMTPConfig.builder().socketType(DEALER).build());
        ZwsTranslator translator = new ZwsTranslator(role, session);
        Buffers codec = new Buffers();
        EmbeddedChannel channel = new EmbeddedChannel(translator, codec);
        translator.start(ZwsProtocol.BARE);
        codec.all.remove(0).release();
        channel.writeInbound(in);
        channel.pipeline().remove(translator);
        channel.finishAndReleaseAll();
        return codec;
    }

    @ParameterizedTest
    @CsvSource({"SERVER, 125", "SERVER, 300", "SERVER, 70000", "CLIENT, 100", "CLIENT, 300", "CLIENT, 70000"})
    void aBodyRemainsWhereItWasRead(WebSocketRole role, int length) {
        ByteBuf in = Unpooled.buffer();
        WebSocketFrames.writeHeader(in, WebSocketFrames.BINARY, role == WebSocketRole.SERVER, length + 1);
        if (role == WebSocketRole.SERVER) {
            in.writeInt(0);
        }
        int body = in.writeByte(0).writerIndex();
        in.writeBytes(new byte[length]);
        byte[] memory = in.array();

        Buffers codec = buffersOf(role, in);

        ByteBuf last = codec.all.get(codec.all.size() - 1);
        assertThat(last.array()).isSameAs(memory);
        assertThat(last.arrayOffset() + last.writerIndex()).isEqualTo(body + length);
        assertThat(codec.dump()).endsWith("00".repeat(length)).hasSize(2 * (length + (length < 256 ? 2 : 9)));
        codec.all.forEach(ByteBuf::release);
        assertThat(in.refCnt()).isZero();
    }

    @Test
    void aLongBodyWithoutAMaskIsNotMovedAfterOthers() {
        byte[] frames = Hex.bytes("82 02 00 61 / 82 7e 08 01 00 79*2048 / 82 02 00 62 / 82 7e 00 ff 00 7a*254");
        ByteBuf in = Unpooled.wrappedBuffer(frames);

        Buffers codec = buffersOf(WebSocketRole.CLIENT, in);

        assertThat(codec.dump()).isEqualTo(Hex.of("00 01 61 / 02 00*6 08 00 79*2048 / 00 01 62 / 00 fe 7a*254"));
        assertThat(codec.all).hasSize(3); // "a", the header that has no room, and the rest
        assertThat(frames[8]).isZero();
        assertThat(Arrays.copyOfRange(frames, 9, 9 + 2048)).containsOnly(0x79);
        codec.all.forEach(ByteBuf::release);
    }

    /** The gaps before it would have room for it. */
    @Test
    void aLongBodyWithoutAMaskIsNotMovedIntoAGap() {
        byte[] frames = Hex.bytes(frames(8, "82 01 00") + "82 7e 08 01 00 79*2048 / 82 02 00 62");

        Buffers codec = buffersOf(WebSocketRole.CLIENT, Unpooled.wrappedBuffer(frames));

        assertThat(codec.dump()).isEqualTo(Hex.of("00*16 / 02 00*6 08 00 79*2048 / 00 01 62"));
        assertThat(codec.all).hasSize(2);
        assertThat(Arrays.copyOfRange(frames, 29, 29 + 2048)).containsOnly(0x79);
        codec.all.forEach(ByteBuf::release);
    }

    @Test
    void aBufferThatOthersUseIsNotChanged() {
        byte[] frame = Hex.bytes("82 82 " + KEY + "37 9b");
        ByteBuf shared = Unpooled.copiedBuffer(frame).retain();
        Buffers codec = buffersOf(WebSocketRole.SERVER, shared);
        assertThat(codec.dump()).isEqualTo(Hex.of("00 01 61"));
        codec.all.forEach(ByteBuf::release);
        assertThat(shared.array()).startsWith(frame);
        assertThat(shared.refCnt()).isEqualTo(1);
        shared.release();

        ByteBuf readOnly = Unpooled.copiedBuffer(frame).asReadOnly();
        codec = buffersOf(WebSocketRole.SERVER, readOnly);
        assertThat(codec.dump()).isEqualTo(Hex.of("00 01 61"));
        codec.all.forEach(ByteBuf::release);
        assertThat(readOnly.refCnt()).isZero();
    }

    @Test
    void aReadThatACallbackMakesComesAfterThePresentOne() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            end.addAfterTranslator(new Rereader());
            end.receive("82 02 00 61 / 82 7e 08 01 00 79*2048 / 82 02 00 63");

            assertThat(end.zmtp()).isEqualTo(Hex.of("00 01 61 / 02 00*6 08 00 79*2048 / 00 01 63 / 00 01 64"));
        }
    }

    /** Makes the transport read once, at the first message. */
    private static final class Rereader extends ChannelInboundHandlerAdapter {
        private boolean done;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (!done) {
                done = true;
                ctx.pipeline().fireChannelRead(Hex.buffer("82 02 00 64"));
            }
            ctx.fireChannelRead(message);
        }
    }

    @Test
    void otherObjectsPassOn() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            List<Object> passed = new ArrayList<>();
            end.addAfterTranslator(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    passed.add(message);
                }
            });
            end.channel.writeInbound("text");

            assertThat(passed).containsExactly("text");
        }
    }

    // Writes

    @Test
    void aLongBodyOfAServerIsSentByReference() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            ByteBuf body = Unpooled.wrappedBuffer(Hex.bytes("78*5000"));
            ChannelFuture header = end.write("00 01 61 / 02 00*6 13 88");
            ChannelFuture sent = end.channel.writeAndFlush(body);

            assertThat(List.of(header, sent)).allMatch(ChannelFuture::isSuccess);
            ByteBuf first = end.channel.readOutbound();
            assertThat(Hex.dump(first)).isEqualTo(Hex.of("82 02 00 61 / 82 7e 13 89 00"));
            assertThat(end.channel.<ByteBuf>readOutbound()).isSameAs(body);
            body.release();
        }
    }

    @Test
    void longBodiesInABufferOfManyFramesAreSentByReference() {
        byte[] frames = Hex.bytes("00 01 61 / 03 00*6 13 88 78*5000 / 01 00 / 02 00*6 13 88 79*5000 / 00 01 62");
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            ChannelFuture sent = end.channel.writeAndFlush(Unpooled.wrappedBuffer(frames));

            assertThat(sent.isSuccess()).isTrue();
            CompositeByteBuf all = end.channel.readOutbound();
            assertThat(all.numComponents()).isEqualTo(5);
            assertThat(all.component(1).array()).isSameAs(frames);
            assertThat(Hex.dump(all))
                    .isEqualTo(Hex.of("82 02 00 61 / 82 7e 13 89 01 78*5000 / 82 01 01 / 82 7e 13 89 00 79*5000"
                            + " / 82 02 00 62"));
        }
    }

    @Test
    void aClientDoesNotChangeABody() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.CLIENT)) {
            byte[] body = Hex.bytes("78*200001");
            end.write("02 00*5 03 0d 41");
            end.channel.writeAndFlush(Unpooled.wrappedBuffer(body));

            assertThat(body).containsOnly(0x78);
            String sent = end.received();
            assertThat(sent).startsWith(Hex.of("82 ff 00*5 03 0d 42 " + KEY + "37"));
            String masked = sent.substring(2 * 15);
            assertThat(masked).isEqualTo(Hex.of("82 59 45 4f").repeat(50_000) + "82");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aBarrierCompletesAfterTheWritesBeforeIt(WebSocketRole role) {
        try (TranslatedChannel end = TranslatedChannel.open(role)) {
            ChannelFuture message = end.channel.write(Hex.buffer("00 01 61"));
            ChannelFuture barrier = end.channel.write(Unpooled.EMPTY_BUFFER);
            assertThat(message.isDone() || barrier.isDone()).isFalse();
            end.channel.flush();

            assertThat(message.isSuccess() && barrier.isSuccess()).isTrue();
            assertThat(end.received()).isNotEmpty();
        }
    }

    @Test
    void otherObjectsAreRefused() {
        try (TranslatedChannel end = TranslatedChannel.open(WebSocketRole.SERVER)) {
            assertThat(end.channel.write("text").cause()).isInstanceOf(UnsupportedMessageTypeException.class);
        }
    }

    @Test
    void aWriteWithoutMemoryFailsAndLeavesATornStream() {
        FullAllocator allocator = new FullAllocator();
        try (TranslatedChannel end = TranslatedChannel.openWith(allocator, WebSocketRole.SERVER)) {
            ByteBuf bytes = Unpooled.wrappedBuffer(Hex.bytes("00 01 61"));
            allocator.full = true;
            ChannelFuture sent = end.channel.writeAndFlush(bytes);
            allocator.full = false;

            assertThat(sent.cause()).isInstanceOf(OutOfMemoryError.class);
            assertThat(bytes.refCnt()).isZero();
            end.channel.close();
            assertThat(end.received()).isEmpty();
            assertThat(end.channel.isOpen()).isFalse();
        }
    }
}
