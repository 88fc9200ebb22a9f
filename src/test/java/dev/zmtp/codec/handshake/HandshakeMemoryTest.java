package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A handshake during which the allocator has no memory, at each place where it is asked for some. */
class HandshakeMemoryTest {

    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("01*32"));
    private static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.fromSecretKey(Hex.bytes("02*32"));

    private static final ZMTPAuthenticator NOBODY =
            request -> CompletableFuture.completedStage(ZMTPAuthDecision.deny("a stranger"));

    /** Both ends of a connection. */
    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    enum Peers {
        NULL(config -> config, config -> config),
        NULL_DENIED(config -> config, config -> config.authenticator(NOBODY)),
        NULL_OF_THE_WRONG_TYPE(config -> config, config -> config.socketType(PUSH)),
        PLAIN(
                config -> config.mechanism(ZMTPPlain.client("user", "password")),
                config -> config.mechanism(ZMTPPlain.server()).authenticator(ZMTPAuthenticator.acceptAll())),
        PLAIN_DENIED(
                config -> config.mechanism(ZMTPPlain.client("user", "password")),
                config -> config.mechanism(ZMTPPlain.server()).authenticator(NOBODY)),
        CURVE(
                config -> config.mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT)),
                config -> config.mechanism(ZMTPCurve.server(SERVER)).authenticator(ZMTPAuthenticator.acceptAll())),
        CURVE_DENIED(
                config -> config.mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT)),
                config -> config.mechanism(ZMTPCurve.server(SERVER)).authenticator(NOBODY)),
        CURVE_OF_THE_WRONG_TYPE(
                config -> config.mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT)),
                config -> config.socketType(PUSH)
                        .mechanism(ZMTPCurve.server(SERVER))
                        .authenticator(ZMTPAuthenticator.acceptAll()));

        private final UnaryOperator<ZMTPConfig.Builder> client;
        private final UnaryOperator<ZMTPConfig.Builder> server;

        Peers(UnaryOperator<ZMTPConfig.Builder> client, UnaryOperator<ZMTPConfig.Builder> server) {
            this.client = client;
            this.server = server;
        }

        ZMTPConfig.Builder client() {
            return client.apply(ZMTPConfig.builder().socketType(DEALER).handshakeExecutor(Runnable::run));
        }

        ZMTPConfig.Builder server() {
            return server.apply(ZMTPConfig.builder().socketType(ROUTER).handshakeExecutor(Runnable::run));
        }
    }

    /** Fails one allocation, and remembers what it has given for the others. */
    private static final class Failing extends HeapAllocator {
        private final int failingOne;
        private final List<ByteBuf> given = new ArrayList<>();
        private int asked;

        private Failing(int failingOne) {
            this.failingOne = failingOne;
        }

        private boolean hasFailed() {
            return asked > failingOne;
        }

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            if (asked++ == failingOne) {
                throw new OutOfMemoryError("full");
            }
            ByteBuf buffer = super.newHeapBuffer(initialCapacity, maxCapacity);
            given.add(buffer);
            return buffer;
        }
    }

    private static ChannelInitializer<Channel> codec(ZMTPConfig.Builder config, ByteBufAllocator allocator) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setAllocator(allocator);
                channel.pipeline().addLast(ZMTPCodec.from(config.build()));
            }
        };
    }

    static List<Arguments> everyEnd() {
        List<Arguments> all = new ArrayList<>();
        for (Peers peers : Peers.values()) {
            all.add(Arguments.of(peers, true));
            all.add(Arguments.of(peers, false));
        }
        return all;
    }

    @ParameterizedTest(name = "{0}, of the client: {1}")
    @MethodSource("everyEnd")
    void whereverMemoryEndsNothingLeaksAndTheHandshakeIsReportedOnce(Peers peers, boolean ofTheClient) {
        int failing = 0;
        Failing allocator = run(peers, ofTheClient, failing);
        while (allocator.hasFailed()) {
            allocator = run(peers, ofTheClient, ++failing);
        }
        assertThat(failing).isGreaterThan(2); // or the allocator was not asked
    }

    private static Failing run(Peers peers, boolean ofTheClient, int failing) {
        Failing allocator = new Failing(failing);
        List<ChannelFuture> writes = new ArrayList<>();
        try (CodecPair pair = new CodecPair(
                codec(peers.client(), ofTheClient ? allocator : ByteBufAllocator.DEFAULT),
                codec(peers.server(), ofTheClient ? ByteBufAllocator.DEFAULT : allocator))) {
            for (CodecPair.Side end : List.of(pair.left, pair.right)) {
                writes.add(end.channel.writeAndFlush(ZMTPMessage.fromUTF8("held", "during the handshake")));
            }
            pair.exchange();
            pair.left.channel.close();
            pair.right.channel.close();
            pair.exchange();
            for (CodecPair.Side end : List.of(pair.left, pair.right)) {
                assertThat(end.events)
                        .as("allocation %d fails", failing)
                        .singleElement()
                        .isInstanceOfAny(ZMTPHandshakeSuccess.class, ZMTPHandshakeFailure.class);
                end.messages.forEach(ReferenceCountUtil::release);
            }
        }
        assertThat(writes).allMatch(ChannelFuture::isDone);
        assertThat(allocator.given).as("allocation %d fails", failing).allMatch(buffer -> buffer.refCnt() == 0);
        return allocator;
    }
}
