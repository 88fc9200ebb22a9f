package dev.zmtp.codec.handshake;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.Failures.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthenticator;
import dev.zmtp.security.ZMTPCurve;
import dev.zmtp.security.ZMTPCurveKeyPair;
import dev.zmtp.security.ZMTPPublicKeyAuthenticator;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CURVE between two codecs. */
class CurveTest {

    private static final ZMTPCurveKeyPair SERVER = ZMTPCurveKeyPair.generate();
    private static final ZMTPCurveKeyPair CLIENT = ZMTPCurveKeyPair.generate();

    private static ZMTPConfig.Builder client(ZMTPSocketType type) {
        return ZMTPConfig.builder()
                .socketType(type)
                .mechanism(ZMTPCurve.client(SERVER.publicKey(), CLIENT))
                .handshakeExecutor(Runnable::run);
    }

    private static ZMTPConfig.Builder server(ZMTPSocketType type) {
        return ZMTPConfig.builder()
                .socketType(type)
                .mechanism(ZMTPCurve.server(SERVER))
                .authenticator(ZMTPPublicKeyAuthenticator.of(List.of(CLIENT.publicKey())))
                .handshakeExecutor(Runnable::run);
    }

    private static CodecPair joined(ZMTPConfig.Builder left, ZMTPConfig.Builder right) {
        return new CodecPair(ZMTPCodec.from(left.build()), ZMTPCodec.from(right.build())).exchange();
    }

    @Test
    void twoSidesShakeHandsAndTalk() {
        try (CodecPair peers = joined(client(DEALER).localIdentity("me"), server(ROUTER))) {
            ZMTPHandshakeSuccess atServer = (ZMTPHandshakeSuccess) peers.right.events.get(0);
            assertThat(atServer.handshake().mechanism()).isEqualTo("CURVE");
            assertThat(atServer.handshake().remoteSocketType()).isEqualTo(DEALER);
            assertThat(atServer.session().userId()).isEqualTo(CLIENT.publicKey().z85());
            ZMTPMessage sent = ZMTPMessage.fromUTF8("a", "", "c".repeat(70_000));
            peers.left.channel.writeAndFlush(sent.retain());
            peers.right.channel.writeAndFlush(sent.retain());
            peers.exchange();
            assertThat(peers.left.messages).containsExactly(sent);
            assertThat(peers.right.messages).containsExactly(sent);
            peers.left.messages.forEach(ReferenceCountUtil::release);
            peers.right.messages.forEach(ReferenceCountUtil::release);
            sent.release();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 70_000})
    void aReadOnlyBufferIsDecryptedInACopy(int length) {
        try (CodecPair peers = joined(client(DEALER), server(ROUTER))) {
            ZMTPMessage sent = ZMTPMessage.fromUTF8("c".repeat(length));
            peers.left.channel.writeAndFlush(sent.retain());
            ByteBuf bytes = peers.left.channel.readOutbound();
            ByteBuf before = bytes.copy();
            peers.right.channel.writeInbound(bytes.asReadOnly().retain());
            assertThat(peers.right.failures).isEmpty();
            assertThat(peers.right.messages).containsExactly(sent);
            assertThat(bytes).isEqualTo(before);
            peers.right.messages.forEach(ReferenceCountUtil::release);
            sent.release();
            before.release();
            bytes.release();
        }
    }

    @Test
    void subscriptionsAreEncrypted() {
        try (CodecPair peers = joined(client(SUB), server(PUB))) {
            peers.left.channel.writeAndFlush(ZMTPSubscription.subscribe("AB"));
            peers.exchange();
            assertThat(peers.right.messages).containsExactly(ZMTPSubscription.subscribe("AB"));
        }
    }

    @Test
    void anUnknownClientGetsTheStatus() {
        try (CodecPair peers = joined(
                client(DEALER),
                server(ROUTER).authenticator(ZMTPPublicKeyAuthenticator.of(List.of(SERVER.publicKey()))))) {
            assertThat(failureOf(peers.right).code()).isEqualTo(ZMTPException.Code.AUTHENTICATION);
            assertThat(failureOf(peers.left)).hasMessageStartingWith("refused by the peer: 400");
        }
    }

    @Test
    void aClientOfTheWrongTypeGetsTheReason() {
        try (CodecPair peers = joined(client(DEALER), server(PUB))) {
            String reason = "socket type: DEALER (expected: one that PUB talks to)";
            assertThat(failureOf(peers.right).code()).isEqualTo(ZMTPException.Code.SOCKET_TYPE);
            assertThat(failureOf(peers.right)).hasMessageStartingWith(reason);
            assertThat(failureOf(peers.left)).hasMessageStartingWith("refused by the peer: " + reason);
        }
    }

    /** A listener can outlive its key pair, and its log must not grow with each stranger. */
    @Test
    void aServerWhoseKeyPairIsDestroyedFailsTheHandshake() {
        ZMTPCurveKeyPair destroyed = ZMTPCurveKeyPair.generate();
        ZMTPConfig.Builder server = server(ROUTER).mechanism(ZMTPCurve.server(destroyed));
        ZMTPConfig.Builder client = client(DEALER).mechanism(ZMTPCurve.client(destroyed.publicKey(), CLIENT));
        destroyed.destroy();
        try (CodecPair peers = joined(client, server)) {
            assertThat(failureOf(peers.right).code()).isEqualTo(ZMTPException.Code.CLOSED);
            assertThat(failureOf(peers.right)).hasMessageStartingWith("key pair: destroyed");
        }
    }

    @Test
    void aClientWhoseKeyPairIsDestroyedFailsTheHandshake() {
        ZMTPCurveKeyPair destroyed = ZMTPCurveKeyPair.generate();
        ZMTPConfig.Builder client = client(DEALER).mechanism(ZMTPCurve.client(SERVER.publicKey(), destroyed));
        destroyed.destroy();
        try (CodecPair peers = joined(client, server(ROUTER))) {
            assertThat(failureOf(peers.left).code()).isEqualTo(ZMTPException.Code.CLOSED);
            assertThat(failureOf(peers.left)).hasMessageStartingWith("key pair: destroyed");
        }
    }

    @Test
    void aServerWithAnotherKeyIsRefused() {
        ZMTPConfig.Builder other = ZMTPConfig.builder()
                .socketType(ROUTER)
                .mechanism(ZMTPCurve.server(ZMTPCurveKeyPair.generate()))
                .authenticator(ZMTPAuthenticator.acceptAll())
                .handshakeExecutor(Runnable::run);
        try (CodecPair peers = joined(client(DEALER), other)) {
            assertThat(failureOf(peers.right)).hasMessageStartingWith("HELLO: a box that does not open");
            assertThat(failureOf(peers.left).code()).isEqualTo(ZMTPException.Code.CLOSED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"NULL\" 00*16", "\"PLAIN\" 00*15", "\"CURVE\" 00*14 01", "\"curve\" 00*15"})
    void anotherMechanismIsRefused(String theirs) {
        for (ZMTPConfig.Builder config : List.of(client(DEALER), server(ROUTER))) {
            try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build()))) {
                peer.send(ScriptedPeer.SIGNATURE + "03 01 " + theirs + " 00*32");
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.MECHANISM);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"01 00", ScriptedPeer.SIGNATURE + "00 05 00 00", ScriptedPeer.SIGNATURE + "01 05 00 00"})
    void oldPeersAreRefused(String greeting) {
        for (ZMTPConfig.Builder config : List.of(client(DEALER), server(ROUTER))) {
            try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.from(config.build()))) {
                peer.send(greeting);
                assertThat(failureOf(peer).code()).isEqualTo(ZMTPException.Code.VERSION);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00 01 61", "04 07 04 \"PING\" 00 00", "01 01 61"})
    void clearTextInTrafficEndsTheConnection(String frame) {
        try (CodecPair peers = joined(client(DEALER), server(ROUTER))) {
            ByteBuf bytes = Hex.buffer(frame);
            peers.right.channel.writeInbound(bytes);
            assertThat(peers.right.failures).singleElement().isInstanceOf(ZMTPException.class);
            assertThat(peers.right.channel.isOpen()).isFalse();
            assertThat(peers.right.channel.<Object>readOutbound()).isNull(); // no ERROR, no oracle
        }
    }

    @Test
    void theHandshakeIsComputedOnlyOnTheExecutor() {
        Queue<Runnable> computations = new ArrayDeque<>();
        ZMTPConfig.Builder slow = server(ROUTER).handshakeExecutor(computations::add);
        try (CodecPair peers = joined(client(DEALER), slow)) {
            for (int step = 0; step < 2; step++) { // HELLO and INITIATE
                assertThat(peers.right.events).isEmpty();
                assertThat(computations).hasSize(1);
                computations.remove().run();
                peers.exchange();
            }
            assertThat(computations).isEmpty();
            assertThat(peers.right.events).singleElement().isInstanceOf(ZMTPHandshakeSuccess.class);
        }
    }

    @Test
    void aFullExecutorEndsTheConnectionWithoutAStackTrace() {
        ZMTPConfig.Builder full = server(ROUTER).handshakeExecutor(task -> {
            throw new RejectedExecutionException("full");
        });
        try (CodecPair peers = joined(client(DEALER), full)) {
            assertThat(failureOf(peers.right))
                    .hasMessageContaining("handshake executor: full (expected: room for one more)")
                    .hasCauseInstanceOf(RejectedExecutionException.class)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ZMTPException.Code.CLOSED))
                    .satisfies(e -> assertThat(e.getStackTrace()).isEmpty());
        }
    }

    @Test
    void aComputationThatEndsAfterItsConnectionChangesNothing() {
        Queue<Runnable> computations = new ArrayDeque<>();
        ZMTPConfig.Builder slow = server(ROUTER).handshakeExecutor(computations::add);
        try (CodecPair peers = joined(client(DEALER), slow)) {
            peers.right.channel.close();
            computations.remove().run();
            peers.exchange();
            assertThat(failureOf(peers.right).code()).isEqualTo(ZMTPException.Code.CLOSED);
        }
    }

    @Test
    void aPeerThatSendsTooEarlyIsRefused() {
        Queue<Runnable> computations = new ArrayDeque<>();
        ZMTPConfig.Builder slow = server(ROUTER).handshakeExecutor(computations::add);
        try (CodecPair peers = joined(client(DEALER), slow)) {
            peers.right.channel.writeInbound(Hex.buffer("04 05 04 \"PING\""));
            assertThat(failureOf(peers.right).code()).isEqualTo(ZMTPException.Code.UNEXPECTED);
            computations.remove().run();
        }
    }

    @Test
    void thePingsOfBothSidesAreEncrypted() {
        try (CodecPair peers = joined(
                client(DEALER).heartbeatInterval(Duration.ofSeconds(1)),
                server(ROUTER).heartbeatInterval(Duration.ofSeconds(1)))) {
            for (int second = 0; second < 5; second++) {
                for (CodecPair.Side end : List.of(peers.left, peers.right)) {
                    end.channel.advanceTimeBy(1, TimeUnit.SECONDS);
                    end.channel.runScheduledPendingTasks();
                }
                peers.exchange();
            }
            assertThat(peers.left.failures).isEmpty();
            assertThat(peers.right.failures).isEmpty();
            assertThat(peers.right.channel.isOpen()).isTrue();
        }
    }

    @Test
    void settingsThatConflictAreRefusedWhenTheConfigIsBuilt() {
        assertThatThrownBy(() -> ZMTPConfig.builder()
                        .socketType(ROUTER)
                        .mechanism(ZMTPCurve.server(SERVER))
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("authenticator: none (expected: one for a CURVE server");
        assertThatThrownBy(() -> client(DEALER)
                        .authenticator(ZMTPAuthenticator.acceptAll())
                        .build())
                .hasMessageStartingWith("authenticator: set (expected: none for a CURVE client");
        assertThatThrownBy(() -> client(DEALER).protocol(ZMTPVersion.ZMTP20).build())
                .hasMessage("protocol: ZMTP20 (expected: ZMTP30 or ZMTP31 with CURVE)");
    }

    @Test
    void aHundredThousandMessagesAreSentOnOneConnection() {
        try (CodecPair peers = joined(client(DEALER), server(ROUTER))) {
            for (int batch = 0; batch < 100; batch++) {
                for (int i = 0; i < 1000; i++) {
                    peers.left.channel.write(ZMTPMessage.fromUTF8("m"), peers.left.channel.voidPromise());
                }
                peers.left.channel.flush();
                peers.exchange();
                assertThat(peers.right.messages).hasSize(1000);
                peers.right.messages.forEach(ReferenceCountUtil::release);
                peers.right.messages.clear();
            }
            assertThat(peers.right.failures).isEmpty();
        }
    }
}
