package dev.zmtp.codec.hostile;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.SlowToClose;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Anyone may connect to a port: peers that send random bytes, mirrors, slow and mute peers, and peers that ignore a
 * refusal. What fails at its second byte at the latest is in {@code IdentityTest}.
 */
class StrangersTest {

    private static final String REFUSED_OR_UNDERSTOOD =
            "(success ZMTP\\d\\d(, (message|subscribe|cancel)[^,]*)*(, (MALFORMED|TOO_LARGE|CLOSED))?"
                    + "|refused: (MALFORMED|TOO_LARGE|MECHANISM|SOCKET_TYPE|UNEXPECTED|CLOSED)), closed";

    static LongStream seeds() {
        return LongStream.range(0, 32);
    }

    /**
     * All that is fired for these bytes, which arrive in random pieces of {@code cuts} or in one, and at the
     * disconnect.
     */
    private static List<String> outcome(ZMTPVersion ours, byte[] bytes, int most, Random cuts) {
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .protocol(ours)
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            for (int at = 0; at < bytes.length; ) {
                int next = Math.min(bytes.length, at + (most == 1 ? 1 : 1 + cuts.nextInt(most)));
                peer.send(Arrays.copyOfRange(bytes, at, next));
                at = next;
            }
            peer.channel.unsafe().close(peer.channel.voidPromise());
            peer.channel.runPendingTasks();
            return Transcript.outcome(peer);
        }
    }

    /** The outcome of these bytes, which must be a possible one, and the same however they are split. */
    private static void assertOneOutcome(ZMTPVersion ours, byte[] bytes, long seed) {
        List<String> inOneRead = outcome(ours, bytes, bytes.length, new Random() {
            private static final long serialVersionUID = 1L;

            @Override
            public int nextInt(int bound) {
                return bound - 1;
            }
        });
        assertThat(String.join(", ", inOneRead)).matches(REFUSED_OR_UNDERSTOOD);
        assertThat(outcome(ours, bytes, 1, new Random(seed))).isEqualTo(inOneRead);
        assertThat(outcome(ours, bytes, 50, new Random(seed))).isEqualTo(inOneRead);
    }

    private static byte[] random(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void randomBytesHaveOneOutcomeHoweverTheyAreSplit(long seed) {
        Random random = new Random(seed);
        for (ZMTPVersion ours : ZMTPVersion.values()) {
            assertOneOutcome(ours, random(random, 1 + random.nextInt(1000)), seed);
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void randomBytesAfterASignatureHaveOneOutcomeHoweverTheyAreSplit(long seed) {
        Random random = new Random(seed);
        for (ZMTPVersion ours : ZMTPVersion.values()) {
            for (String signature : List.of("ff 00*7 01 7f", "ff 00*7 01 7f 01 06", "ff 00*7 01 7f 03 01", GREETING)) {
                byte[] bytes = random(random, 1000);
                byte[] start = Hex.bytes(signature);
                System.arraycopy(start, 0, bytes, 0, start.length);
                assertOneOutcome(ours, bytes, seed);
            }
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void randomBytesInTrafficHaveOneOutcomeHoweverTheyAreSplit(long seed) {
        Random random = new Random(seed);
        for (ZMTPVersion version : ZMTPVersion.values()) {
            byte[] handshake = Hex.bytes(ScriptedPeer.greeting(version, ZMTPSocketType.ROUTER));
            byte[] bytes = random(random, 1000);
            System.arraycopy(handshake, 0, bytes, 0, handshake.length);
            // Most random bytes fail at the first: these start with frames that are legal, if they are long enough.
            for (int at = handshake.length; at < bytes.length; at += 2 + (bytes[at + 1] & 0xff)) {
                bytes[at] &= 7;
                if (at + 2 + (bytes[at + 1] & 0xff) >= bytes.length - 1) {
                    break;
                }
            }
            assertOneOutcome(ZMTPVersion.ZMTP31, bytes, seed);
        }
    }

    /**
     * X11, for one, sends a zero after a byte that may be a length. That looks just like a 1.0 peer with an identity.
     * A user without 1.0 peers can refuse them all.
     */
    @Test
    void aStrangerWhoseSecondByteIsZeroIsTakenForA10PeerUnlessThoseAreRefused() {
        String x11 = "6c 00 0b 00*9";
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel.pipeline().addFirst(ZMTPCodec.of(ZMTPSocketType.DEALER));
        peer.send(x11);
        assertThat(peer.all).isEmpty();
        pass(peer, 30_000);
        assertThat(Transcript.outcome(peer)).containsExactly("refused: HANDSHAKE_TIMEOUT", "closed");
        peer.close();

        ZMTPCodec strict = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.DEALER)
                .interop(false)
                .build();
        try (ScriptedPeer refused = new ScriptedPeer(strict).send(x11)) {
            assertThat(Transcript.outcome(refused)).containsExactly("refused: VERSION", "closed");
        }
    }

    /** Its first byte is that of a signature, its tenth is odd, and then it waits for an answer. */
    @Test
    void aWaitingTelnetTimesOutAfter30Seconds() {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.freezeTime();
        peer.channel.pipeline().addFirst(ZMTPCodec.of(ZMTPSocketType.DEALER));
        peer.send("ff fd 03 ff fb 18 ff fb 1f ff fb 20 ff fb 21 ff fb 22 ff fb 27 ff fd 05");
        pass(peer, 29_999);
        assertThat(peer.all).isEmpty();
        pass(peer, 1);
        assertThat(Transcript.outcome(peer)).containsExactly("refused: HANDSHAKE_TIMEOUT", "closed");
        peer.close();
    }

    private static void pass(ScriptedPeer peer, long millis) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        peer.channel.runScheduledPendingTasks();
    }

    // Mirrors

    private static ScriptedPeer mirrored(ZMTPSocketType type) {
        ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(type));
        for (String bytes = peer.received(); !bytes.isEmpty(); bytes = peer.received()) {
            peer.send(bytes);
        }
        return peer;
    }

    @ParameterizedTest
    @EnumSource(ZMTPSocketType.class)
    void aMirrorIsRefusedUnlessTheTypeIsCompatibleWithItself(ZMTPSocketType type) {
        try (ScriptedPeer peer = mirrored(type)) {
            if (type.accepts(type)) {
                assertThat(Transcript.outcome(peer)).containsExactly("success ZMTP31");
            } else {
                assertThat(Transcript.outcome(peer)).containsExactly("refused: SOCKET_TYPE", "closed");
            }
        }
    }

    // The slow and the mute

    @ParameterizedTest
    @ValueSource(longs = {0, 15})
    void aPeerInTrafficMayBeSlowAsLongAsItIsAlive(long heartbeatSeconds) {
        try (ScriptedPeer peer = InTraffic.as(ZMTPSocketType.DEALER)
                .set(codec -> codec.heartbeatInterval(Duration.ofSeconds(heartbeatSeconds)))
                .start()) {
            for (byte oneByte : Hex.bytes("01 01 61 / 02 00*7 08 62*8 / 00 00")) {
                peer.send(new byte[] {oneByte});
                peer.channel.advanceTimeBy(10, TimeUnit.SECONDS);
                peer.channel.runScheduledPendingTasks();
            }
            assertThat(peer.messages).containsExactly("message 61 " + Hex.of("62*8"), "message -");
            assertThat(peer.failures).isEmpty();
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ff 00*7 01 7f", "03 00 61", "ff 00*7 01 7f 01 06 00 02 61", GREETING})
    void aConnectionWithoutAHandshakeIsNotAPeer(String theirs) {
        AtomicInteger names = new AtomicInteger();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ZMTPSocketType.PUB)
                .identityGenerator(session -> ByteBuffer.wrap(new byte[] {0, (byte) names.incrementAndGet()}))
                .build();
        ScriptedPeer peer = new ScriptedPeer(codec).send(theirs.replace("01 06", "01 02"));
        peer.received();
        ChannelFuture written = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("for subscribers"));
        assertThat(peer.all).isEmpty();
        assertThat(peer.received()).isEmpty();
        assertThat(written.isDone()).isFalse();
        peer.close();
        assertThat(names).hasValue(0);
        assertThat(Transcript.outcome(peer)).containsExactly("refused: CLOSED", "closed");
        assertThat(written.isSuccess()).isFalse();
    }

    // Peers that ignore a refusal

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a wrong socket type, SOCKET_TYPE",
        "a wrong mechanism, MECHANISM",
        "no ZMTP, MALFORMED",
        "too large a command, TOO_LARGE"
    })
    void inputOfARefusedPeerIsNeitherFiredNorRetained(String stranger, ZMTPException.Code code) {
        String theirs = switch (code) {
            case SOCKET_TYPE -> GREETING + ready("PUB");
            case MECHANISM -> "ff 00*7 01 7f 03 01 \"PLAIN\" 00*15 00*32";
            case MALFORMED -> "\"GET\" 20 2f";
            default -> GREETING + "06 00*5 01 00 01";
        };
        SlowToClose slow = new SlowToClose();
        try (ScriptedPeer peer = new ScriptedPeer(slow, ZMTPCodec.of(ZMTPSocketType.DEALER))) {
            ByteBuf last = Hex.buffer(theirs + " / 00 01 61");
            peer.channel.writeInbound(last);
            assertThat(last.refCnt()).isZero();
            peer.received();
            for (int i = 0; i < 100; i++) {
                ByteBuf more = Hex.buffer("01 01 61 / 00 02 62 63 / 04 07 04 \"PING\" 00 00 / 02 00*4 04 00*3 61*100");
                peer.channel.writeInbound(more);
                assertThat(more.refCnt()).isZero();
            }
            assertThat(Transcript.outcome(peer)).containsExactly("refused: " + code);
            assertThat(peer.received()).isEmpty();
            assertThat(slow.closes).hasSize(1);
            slow.closes.forEach(Runnable::run);
            peer.channel.runPendingTasks();
            assertThat(Transcript.outcome(peer)).containsExactly("refused: " + code, "closed");
        }
    }
}
