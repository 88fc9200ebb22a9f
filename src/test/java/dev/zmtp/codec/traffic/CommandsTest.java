package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commands that are no subscriptions: PINGs are answered, what has no meaning is dropped, nonsense is fatal. */
class CommandsTest {

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "04 07 04 \"PING\" 00 00, 04 05 04 \"PONG\"",
        "04 08 04 \"PING\" 00 00 00, 04 06 04 \"PONG\" 00",
        "04 17 04 \"PING\" ff ff 61*16, 04 15 04 \"PONG\" 61*16",
        "06 00*7 09 04 \"PING\" 00 00 61 62, 04 07 04 \"PONG\" 61 62"
    })
    void aPingIsAnsweredWithItsContextAndNothingElse(String ping, String pong) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            peer.send(ping);
            assertThat(peer.received()).isEqualTo(Hex.of(pong));
            assertThat(peer.messages).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(ZMTPSocketType.class)
    void socketsOfEveryTypeAnswerPings(ZMTPSocketType type) {
        try (ScriptedPeer peer = InTraffic.as(type).start()) {
            peer.send("04 08 04 \"PING\" 00 00 61");
            assertThat(peer.received()).isEqualTo(Hex.of("04 06 04 \"PONG\" 61"));
        }
    }

    @Test
    void aPingBetweenTheFramesOfAMessageDisturbsNothing() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            peer.send("01 01 61 / 04 08 04 \"PING\" 00 00 78 / 01 00 / 04 08 04 \"PING\" 00 00 79 / 00 01 62");
            assertThat(peer.messages).containsExactly("message 61 - 62");
            assertThat(peer.received()).isEqualTo(Hex.of("04 06 04 \"PONG\" 78 / 04 06 04 \"PONG\" 79"));
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "04 05 04 \"PONG\"",
                "04 06 04 \"PONG\" 61",
                "04 06 05 \"READY\"",
                "04 0a 05 \"READY\" ff*4",
                "04 09 05 \"ERROR\" 02 \"no\"",
                "04 06 05 \"ERROR\"",
                "04 08 05 \"ERROR\" ff 61",
                "04 07 04 \"ping\" 00 00",
                "04 04 03 \"NEW\"",
                "04 06 05 \"HELLO\"",
                "04 05 04 \"JOIN\"",
                "04 07 05 \"LEAVE\" 61",
                "04 0b 09 \"SUBSCRIBE\" 61",
                "04 08 06 \"CANCEL\" 61"
            })
    void unknownCommandsAreDropped(String command) {
        try (ScriptedPeer peer = InTraffic.as(PULL).start()) {
            peer.send("01 01 61").send(command).send("00 01 62");
            assertThat(peer.messages).containsExactly("message 61 62");
            assertThat(peer.failures).isEmpty();
            assertThat(peer.received()).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(
            strings = {
                "04 00", // no name
                "04 05 05 \"PING\"", // a name that overruns the body
                "04 01 01",
                "04 05 04 \"PING\"", // no TTL
                "04 06 04 \"PING\" 00", // half a TTL
                "04 18 04 \"PING\" 00 00 61*17" // a context of 17 bytes
            })
    void commandsThatBreakTheGrammarEndTheConnection(String command) {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            Failures.assertMalformed(peer.send(command));
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aPongDoesNotWaitForAFlushByTheUser() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            peer.channel.write(ZMTPMessage.fromUTF8("unflushed"));
            assertThat(peer.received()).isEmpty();
            peer.send("04 07 04 \"PING\" 00 00");
            assertThat(peer.received()).isEqualTo(Hex.of("00 09 \"unflushed\" 04 05 04 \"PONG\""));
        }
    }

    @Test
    void aReadWithoutAPingFlushesNothing() {
        FlushCounter flushes = new FlushCounter();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(flushes).start()) {
            flushes.count = 0;
            peer.channel.write(ZMTPMessage.fromUTF8("unflushed"));
            peer.send("00 01 61");
            assertThat(flushes.count).isZero();
        }
    }

    @Test
    void aPongIsSentWithTheUsersOwnFlush() {
        FlushCounter flushes = new FlushCounter();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(flushes)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelReadComplete(ChannelHandlerContext ctx) {
                        ctx.flush();
                    }
                })
                .start()) {
            flushes.count = 0;
            peer.send("04 07 04 \"PING\" 00 00");
            assertThat(flushes.count).isOne();
            assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
        }
    }

    @Test
    void manyPingsInOneReadAreFlushedOnce() {
        FlushCounter flushes = new FlushCounter();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(flushes).start()) {
            flushes.count = 0;
            peer.send("04 07 04 \"PING\" 00 00 / 04 07 04 \"PING\" 00 00");
            assertThat(flushes.count).isOne();
            assertThat(peer.receivedPieces()).containsExactly(Hex.of("04 05 04 \"PONG\" 04 05 04 \"PONG\""));
        }
    }

    @Test
    void onlyTheNewestPingIsAnsweredWhenTheChannelIsWritableAgain() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            byte[] big = new byte[100_000];
            peer.channel.write(ZMTPMessage.from(Unpooled.wrappedBuffer(big)));
            assertThat(peer.channel.isWritable()).isFalse();
            for (int i = 0; i < 1000; i++) {
                peer.send("04 09 04 \"PING\" 00 00 " + String.format("%02x %02x", i >> 8, i & 0xff));
            }
            assertThat(peer.received()).isEmpty();
            peer.channel.flush();
            assertThat(peer.channel.isWritable()).isTrue();
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*5 01 86 a0 00*100000 / 04 07 04 \"PONG\" 03 e7"));
        }
    }

    @Test
    void aPingReadInACallbackOfAWriteIsAnswered() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelPromise promise = peer.channel.newPromise();
            promise.addListener(failed -> peer.send("04 07 04 \"PING\" 00 00"));
            peer.channel.write("no message", promise);
            assertThat(peer.received()).isEqualTo(Hex.of("04 05 04 \"PONG\""));
        }
    }

    /** Counts flushes on their way to the transport. */
    private static final class FlushCounter extends ChannelOutboundHandlerAdapter {
        private int count;

        @Override
        public void flush(ChannelHandlerContext ctx) {
            count++;
            ctx.flush();
        }
    }

    @Test
    void thePeersBufferIsNotRetained() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ByteBuf read = Hex.buffer("04 09 04 \"PING\" 00 00 61 62 01 02 63");
            peer.channel.writeInbound(read);
            assertThat(read.refCnt()).isZero();
        }
    }
}
