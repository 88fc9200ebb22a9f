package dev.zmtp.internal.websocket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CodecPair;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two codecs, each behind a translator, whose bytes go to each other. */
class ZwsConversationTest {

    private static final List<Integer> LENGTHS =
            List.of(0, 1, 123, 124, 125, 126, 255, 256, 512, 513, 4096, 4097, 65_533, 65_534, 65_535, 65_536, 200_000);

    /** Cuts what arrives anywhere, as a network does. */
    private static final class Network extends ChannelInboundHandlerAdapter {
        private final Random random;

        private Network(long seed) {
            this.random = new Random(seed);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            while (bytes.isReadable()) {
                int most = random.nextBoolean() ? 16 : 64 << 10;
                int part = Math.min(bytes.readableBytes(), 1 + random.nextInt(most));
                ctx.fireChannelRead(ctx.alloc().buffer(part).writeBytes(bytes, part));
            }
            bytes.release();
        }
    }

    /** One end of a connection. */
    private record End(ZwsTranslator translator, ZMTPCodec codec, long seed) {

        private static End of(WebSocketRole role, ZMTPCodec.Builder codec, long seed) {
            ZMTPCodec built = codec.build();
            return new End(new ZwsTranslator(role, built.session()), built, seed);
        }

        private ChannelInitializer<Channel> handlers() {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new Network(seed), translator, codec);
                }
            };
        }
    }

    private static CodecPair connect(
            ZMTPCodec.Builder client, ZMTPCodec.Builder server, ZwsProtocol protocol, long seed) {
        End left = End.of(WebSocketRole.CLIENT, client, seed);
        End right = End.of(WebSocketRole.SERVER, server, seed + 1);
        CodecPair pair = new CodecPair(left.handlers(), right.handlers());
        pair.exchange();
        assertThat(pair.left.events).isEmpty();
        right.translator.start(protocol);
        left.translator.start(protocol);
        return pair.exchange();
    }

    private static ZMTPCodec.Builder codec(ZMTPSocketType type) {
        return ZMTPCodec.builder().socketType(type).handshakeExecutor(Runnable::run);
    }

    private static CodecPair connect(String mechanism, long seed) {
        ZMTPCodec.Builder client = codec(DEALER).localIdentity("me");
        ZMTPCodec.Builder server = codec(ROUTER);
        switch (mechanism) {
            case "PLAIN" -> {
                client.mechanism(ZMTPPlain.client("admin", "secret"));
                server.mechanism(ZMTPPlain.server()).authenticator(ZMTPAuthenticator.acceptAll());
            }
            case "CURVE" -> {
                ZMTPCurveKeyPair keys = ZMTPCurveKeyPair.generate();
                client.mechanism(ZMTPCurve.client(keys.publicKey(), ZMTPCurveKeyPair.generate()));
                server.mechanism(ZMTPCurve.server(keys)).authenticator(ZMTPAuthenticator.acceptAll());
            }
            default -> {}
        }
        ZwsProtocol protocol = mechanism.equals("bare") ? ZwsProtocol.BARE : new ZwsProtocol(mechanism);
        return connect(client, server, protocol, seed);
    }

    private static ZMTPMessage message(int frames, int length) {
        ByteBuf[] bodies = IntStream.range(0, frames)
                .mapToObj(frame -> body((byte) ('x' + frame), length))
                .toArray(ByteBuf[]::new);
        return ZMTPMessage.from(bodies);
    }

    private static ByteBuf body(byte value, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, value);
        return ByteBufAllocator.DEFAULT.buffer(length + 1).writeBytes(bytes);
    }

    private static void assertPasses(CodecPair pair, CodecPair.Side from, CodecPair.Side to, ZMTPMessage sent) {
        assertThat(from.channel.writeAndFlush(sent.retain())).isNotNull();
        pair.exchange();
        assertThat(to.messages).containsExactly(sent);
        to.messages.forEach(received -> ((ZMTPMessage) received).release());
        to.messages.clear();
    }

    @ParameterizedTest
    @CsvSource({"NULL, 1", "NULL, 2", "PLAIN, 3", "CURVE, 4", "bare, 5"})
    void messagesOfAllLengthsPassInBothDirections(String mechanism, long seed) {
        try (CodecPair pair = connect(mechanism, seed)) {
            assertThat(pair.right.events)
                    .singleElement()
                    .isInstanceOfSatisfying(ZMTPHandshakeSuccess.class, success -> {
                        assertThat(success.handshake().negotiatedVersion())
                                .isEqualTo(mechanism.equals("bare") ? ZMTPVersion.ZMTP20 : ZMTPVersion.ZMTP30);
                        assertThat(success.handshake().remoteIdentity())
                                .isEqualTo(ByteBuffer.wrap(new byte[] {'m', 'e'}));
                    });
            for (int length : LENGTHS) {
                for (int frames = 1; frames <= (length < 100_000 ? 3 : 1); frames++) {
                    ZMTPMessage sent = message(frames, length);
                    assertPasses(pair, pair.left, pair.right, sent);
                    assertPasses(pair, pair.right, pair.left, sent);
                    sent.release();
                }
            }
            assertThat(pair.left.failures).isEmpty();
            assertThat(pair.right.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void manyMessagesPassInBatches(long seed) {
        Random random = new Random(seed);
        try (CodecPair pair = connect("NULL", seed)) {
            List<ZMTPMessage> sent = IntStream.range(0, 2000)
                    .mapToObj(i -> message(1 + random.nextInt(3), random.nextInt(random.nextInt(50) == 0 ? 9000 : 300)))
                    .toList();
            for (CodecPair.Side from : List.of(pair.left, pair.right)) {
                CodecPair.Side to = from == pair.left ? pair.right : pair.left;
                sent.forEach(message -> from.channel.write(message.retain()));
                from.channel.flush();
                pair.exchange();

                assertThat(to.messages).containsExactlyElementsOf(sent);
                to.messages.forEach(received -> ((ZMTPMessage) received).release());
            }
            sent.forEach(ZMTPMessage::release);
        }
    }

    @Test
    void aSubscriberGetsWhatItSubscribesTo() {
        for (ZwsProtocol protocol : List.of(ZwsProtocol.BARE, new ZwsProtocol("NULL"))) {
            try (CodecPair pair = connect(codec(SUB), codec(PUB), protocol, 1)) {
                ZMTPSubscription topic = ZMTPSubscription.subscribe("A");
                pair.left.channel.writeAndFlush(topic);
                pair.exchange();

                assertThat(pair.right.messages).containsExactly(topic);
                ZMTPMessage sent = message(2, 3);
                assertPasses(pair, pair.right, pair.left, sent);
                sent.release();
            }
        }
    }

    @Test
    void aCloseIsAnsweredAndEndsBothSides() {
        try (CodecPair pair = connect("NULL", 1)) {
            pair.left.channel.close();
            pair.exchange();

            assertThat(pair.left.channel.isOpen()).isFalse();
            assertThat(pair.right.channel.isOpen()).isFalse();
            assertThat(pair.left.failures).isEmpty();
            assertThat(pair.right.failures).isEmpty();
        }
    }
}
