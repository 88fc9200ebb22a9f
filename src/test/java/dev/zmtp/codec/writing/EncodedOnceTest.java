package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.CodecPair;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.EncoderException;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A message that is encoded once, and written to many channels. */
class EncodedOnceTest {

    private static final String AB = "01 01 61 / 00 01 62";

    private final Gate gate = new Gate();

    private ScriptedPeer dealer() {
        return started(InTraffic.as(DEALER));
    }

    private ScriptedPeer started(InTraffic connection) {
        ScriptedPeer peer = connection.before(gate).start();
        peer.channel.runPendingTasks();
        gate.reset();
        return peer;
    }

    private static ZMTPMessage ab() {
        return ZMTPMessage.fromUTF8("a", "b").encodeOnce();
    }

    @ParameterizedTest
    @EnumSource(ZMTPVersion.class)
    void thePeerGetsTheSameBytesAsOtherwise(ZMTPVersion version) {
        try (ScriptedPeer one = InTraffic.as(PUB).peer(version).start();
                ScriptedPeer other = InTraffic.as(PUB).peer(version).start()) {
            one.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("61"), Hex.buffer(""), Hex.buffer("62*300")));
            other.channel.writeAndFlush(ZMTPMessage.from(Hex.buffer("61"), Hex.buffer(""), Hex.buffer("62*300"))
                    .encodeOnce());
            assertThat(other.received()).isEqualTo(one.received()).isNotEmpty();
        }
    }

    @Test
    void aSecondChannelGetsWhatWasEncodedForTheFirst() {
        ZMTPMessage message = ab();
        try (ScriptedPeer one = InTraffic.as(DEALER).start();
                ScriptedPeer other = InTraffic.as(DEALER).start()) {
            one.channel.writeAndFlush(message.retain());
            message.frame(0).setByte(0, 'x'); // which must not be done: here it shows who looks at the frame
            other.channel.writeAndFlush(message);
            assertThat(one.received()).isEqualTo(Hex.of(AB));
            assertThat(other.received()).isEqualTo(Hex.of(AB));
        }
    }

    @Test
    void peersOfOldAndNewVersionsGetTheFramingOfTheirs() {
        ZMTPMessage message = ab();
        try (ScriptedPeer old = InTraffic.as(PUB).peer(ZMTPVersion.ZMTP10).start();
                ScriptedPeer current = InTraffic.as(PUB).start()) {
            current.channel.writeAndFlush(message.retain());
            old.channel.writeAndFlush(message);
            assertThat(current.received()).isEqualTo(Hex.of(AB));
            assertThat(old.received()).isEqualTo(Hex.of("02 01 61 / 02 00 62"));
        }
    }

    @Test
    void theMessageIsReleasedWithTheLastWrite() {
        ZMTPMessage message = ab();
        try (ScriptedPeer one = InTraffic.as(DEALER).start();
                ScriptedPeer other = InTraffic.as(DEALER).start()) {
            one.channel.writeAndFlush(message.retain());
            assertThat(message.refCnt()).isEqualTo(1);
            other.channel.writeAndFlush(message);
            assertThat(message.refCnt()).isZero();
        }
    }

    // Together with others

    @Test
    void theFirstOfAFlushGoesByReferenceAndTheOthersAreCopied() {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture first = peer.channel.write(ab());
            peer.channel.write(ab());
            peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.write(ab());
            assertThat(first.isDone()).isFalse();
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(6, 15);
            assertThat(first.isSuccess()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of(AB + AB + "00 01 63" + AB));
        }
    }

    @Test
    void itFollowsWhatWasWrittenBeforeInTheSameBuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.write(ab());
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(9);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 63" + AB));
        }
    }

    @Test
    void aLargeOneGoesByReferenceAfterWhatWasWrittenBefore() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.write(
                    ZMTPMessage.from(Hex.buffer("61"), Hex.buffer("62*5000")).encodeOnce());
            peer.channel.write(ZMTPMessage.fromUTF8("d"));
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(3, 5012, 3);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 63 / 01 01 61 / 02 00*6 13 88 62*5000 / 00 01 64"));
        }
    }

    @Test
    void aCopiedOneMayFillABuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.from(Hex.buffer("63*250")));
            peer.channel.write(
                    ZMTPMessage.from(Hex.buffer("61"), Hex.buffer("62*255")).encodeOnce()); // 252 + 260 = 512
            peer.channel.write(ab());
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(512, 6);
        }
    }

    // What does not use it

    @Test
    void aCipherSealsItForEachChannel() {
        ZMTPMessage message = ab();
        try (CodecPair one = CodecPair.curve(server -> server);
                CodecPair other = CodecPair.curve(server -> server)) {
            one.left.channel.writeAndFlush(message.retain());
            other.left.channel.writeAndFlush(message);
            ZMTPMessage expected = ZMTPMessage.fromUTF8("a", "b");
            assertThat(one.exchange().right.messages).containsExactly(expected);
            assertThat(other.exchange().right.messages).containsExactly(expected);
            one.right.messages.forEach(ReferenceCountUtil::release);
            other.right.messages.forEach(ReferenceCountUtil::release);
            expected.release();
        }
    }

    // Failures

    @Test
    void aMessageWithoutFramesIsRefused() {
        try (ScriptedPeer peer = dealer()) {
            ZMTPMessage one = ZMTPMessage.fromUTF8("a");
            ChannelFuture sent = peer.channel.writeAndFlush(one.pop().encodeOnce());
            one.release();
            assertThat(sent.cause()).hasMessage("message frames: 0 (expected: >= 1)");
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void ofAMessageWithAReleasedFrameNothingIsSent() {
        try (ScriptedPeer peer = dealer()) {
            ZMTPMessage message = ab();
            message.frame(1).release();
            ChannelFuture sent = peer.channel.write(message);
            peer.channel.write(ZMTPMessage.fromUTF8("c"));
            peer.channel.flush();
            assertThat(sent.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasCauseInstanceOf(IllegalReferenceCountException.class);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 63"));
        }
    }

    @Test
    void itsPromiseFailsIfTheTransportCannotSendIt() {
        try (ScriptedPeer peer = dealer()) {
            gate.remaining = 0;
            ChannelFuture sent = peer.channel.writeAndFlush(ab());
            assertThat(sent.cause()).isSameAs(gate.broken);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void itsPromiseFailsIfWhatCameBeforeHasEndedTheConnection() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel
                    .write(ZMTPMessage.fromUTF8("c"))
                    .addListener(done -> peer.channel.close()); // when the buffer is handed over
            gate.remaining = 0;
            ChannelFuture sent = peer.channel.write(
                    ZMTPMessage.from(Hex.buffer("61"), Hex.buffer("62*5000")).encodeOnce());
            assertThat(sent.cause()).isInstanceOf(EncoderException.class);
            assertThat(gate.writes).containsExactly(3);
        }
    }

    @Test
    void afterTheEndItIsRefused() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.close();
            ChannelFuture sent = peer.channel.write(ab());
            assertThat(sent.cause()).isInstanceOf(ClosedChannelException.class);
        }
    }

    // The log

    @Test
    void itsFramesAreLogged() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog");
                ScriptedPeer peer = dealer()) {
            log.lines.clear();
            peer.channel.writeAndFlush(ab());
            assertThat(log.lines)
                    .extracting(line -> line.substring(line.indexOf("] ") + 2))
                    .containsExactly(">> ZMTP31 MORE 1 61", ">> ZMTP31 - 1 62");
        }
    }
}
