package dev.zmtp.internal.connection;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.testing.Fired.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.NULL;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.Loopback.Patient;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.handler.flow.FlowControlHandler;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How much the codec reads: as much as its user asked for, and what a handshake takes. */
class ReadDemandTest {

    private static final String HANDSHAKE = GREETING + ready("ROUTER");

    private static ZMTPCodec dealer() {
        return ZMTPCodec.of(ZMTPSocketType.DEALER);
    }

    /** Counts the reads that the transport is asked for. */
    private static final class Reads extends ChannelOutboundHandlerAdapter {
        private int count;

        @Override
        public void read(ChannelHandlerContext ctx) {
            count++;
            ctx.read();
        }

        int take() {
            int taken = count;
            count = 0;
            return taken;
        }
    }

    /** A peer of a channel that reads only when it is asked to. */
    private static ScriptedPeer slowReader(Reads reads, ChannelHandler... behind) {
        ScriptedPeer peer = new ScriptedPeer();
        peer.channel.config().setAutoRead(false);
        peer.channel.pipeline().addBefore("recorder", "reads", reads);
        peer.channel.pipeline().addBefore("recorder", "codec", dealer());
        for (int i = 0; i < behind.length; i++) {
            peer.channel.pipeline().addBefore("recorder", "behind" + i, behind[i]);
        }
        return peer;
    }

    @Test
    void withoutAutoReadTheHandshakeReadsByItselfAndThenStops() {
        Reads reads = new Reads();
        try (ScriptedPeer peer = slowReader(reads)) {
            assertThat(reads.take()).isZero(); // not before the handlers after it are added
            peer.channel.runPendingTasks();
            assertThat(reads.take()).isEqualTo(1);
            for (String part : List.of(SIGNATURE, "03", "01 " + NULL)) {
                peer.send(part);
                assertThat(reads.take()).isEqualTo(1);
            }
            peer.send(ready("ROUTER"));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            assertThat(reads.take()).isZero();
        }
    }

    @Test
    void withoutAutoReadAnEarlyReadCountsUntilAMessageArrives() {
        Reads reads = new Reads();
        try (ScriptedPeer peer = slowReader(reads)) {
            peer.channel.read();
            reads.take();
            peer.send(HANDSHAKE);
            assertThat(reads.take()).isEqualTo(1);
            peer.send("04 07 04 \"PING\" 0000");
            assertThat(reads.take()).isEqualTo(1);
            peer.send("01 01 61 00");
            assertThat(reads.take()).isEqualTo(1);
            peer.send("01 62");
            assertThat(peer.messages).containsExactly(message("a", "b"));
            assertThat(reads.take()).isZero();
        }
    }

    @Test
    void aFlowControlHandlerAfterTheCodecGetsOneMessagePerRead() {
        Reads reads = new Reads();
        try (ScriptedPeer peer = slowReader(reads, new FlowControlHandler())) {
            peer.channel.read();
            peer.send(HANDSHAKE + "00 01 61 / 00 01 62");
            assertThat(peer.messages).containsExactly(message("a"));
            reads.take();
            peer.channel.read();
            assertThat(peer.messages).containsExactly(message("a"), message("b"));
            peer.channel.read();
            assertThat(reads.take()).isEqualTo(1);
            peer.send("00 01 63");
            assertThat(peer.messages).containsExactly(message("a"), message("b"), message("c"));
            assertThat(reads.take()).isZero();
        }
    }

    @Test
    void halfAMessageDoesNotSatisfyAFlowControlHandler() {
        Reads reads = new Reads();
        try (ScriptedPeer peer = slowReader(reads, new FlowControlHandler(), new Patient())) {
            peer.send(HANDSHAKE);
            peer.channel.read();
            for (String part : List.of("01 01 61 / 01", "02 62", "63 00 01")) {
                reads.take();
                peer.send(part);
                assertThat(peer.messages).isEmpty();
                assertThat(reads.take()).isPositive();
            }
            peer.send("64 / 00 01 65");
            assertThat(peer.messages).containsExactly(message("a", "bc", "d"));
            assertThat(reads.take()).isZero();
            peer.channel.read();
            assertThat(peer.messages).containsExactly(message("a", "bc", "d"), message("e"));
        }
    }

    @Test
    void withAutoReadOnlyTheChannelReads() {
        Reads reads = new Reads();
        try (ScriptedPeer peer = new ScriptedPeer(reads, dealer())) {
            reads.take();
            peer.send(SIGNATURE);
            peer.send("03 01 " + NULL + ready("ROUTER"));
            assertThat(reads.take()).isEqualTo(2);
        }
    }

    @Test
    void channelReadCompleteIsPassedOn() {
        List<String> calls = new ArrayList<>();
        ChannelInboundHandlerAdapter listener = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                calls.add("complete");
            }
        };
        try (ScriptedPeer peer = new ScriptedPeer(dealer(), listener)) {
            peer.send(SIGNATURE);
            assertThat(calls).containsExactly("complete");
        }
    }

    /** What auto-read had asked for is not asked for any more when it is off, if no message has come since. */
    @Test
    void nothingIsReadUnaskedIfAutoReadIsTurnedOffAtTheEndOfTheHandshake() {
        List<String> reads = new ArrayList<>();
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads.add("read");
                ctx.read();
            }
        };
        ChannelInboundHandlerAdapter user = new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                ctx.channel().config().setAutoRead(false);
                reads.clear();
            }
        };
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).before(transport).after(user).start()) {
            assertThat(reads).isEmpty();
            peer.send("04 07 04 \"PING\" 00 00"); // was on its way
            assertThat(reads).isEmpty();
            peer.channel.read();
            peer.send("04 07 04 \"PING\" 00 00");
            assertThat(reads).hasSize(2); // the one that was asked for, and on to a message
        }
    }
}
