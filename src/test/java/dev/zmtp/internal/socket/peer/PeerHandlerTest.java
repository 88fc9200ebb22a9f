package dev.zmtp.internal.socket.peer;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.socket.context.PeerCounters.Counter;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One connection, between its channel and its socket. */
class PeerHandlerTest {

    private static final PeerInfo INFO =
            new PeerInfo(ByteBuffer.allocate(0), ZMTPSocketType.PULL, null, null, null, null);

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context =
            ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUSH), clock.eventLoop(), () -> 1);
    private final RecordedOwner owner = new RecordedOwner(context);
    private final PeerHandler handler = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
    private final WrittenChannel channel = new WrittenChannel(handler);

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        clock.finishAndReleaseAll();
    }

    @Test
    void aConnectionIsKnownFromTheBeginningAndThePeerOnceItIsUp() {
        assertThat(owner.calls).containsExactly("began");

        channel.pipeline().fireUserEventTriggered(INFO);

        assertThat(owner.calls).containsExactly("began", "origin up", "up");
        assertThat(handler.upSince()).isEqualTo(1);
    }

    @Test
    void whatThePeerSendsIsTheSockets() {
        channel.pipeline().fireUserEventTriggered(INFO);
        owner.calls.clear();

        channel.writeInbound(
                message("a", "b"),
                ZMTPSubscription.subscribe(Unpooled.copiedBuffer("t", java.nio.charset.StandardCharsets.US_ASCII)));

        assertThat(owner.calls).containsExactly("received 2", "subscription");
    }

    @Test
    void aPeerThatIsRefusedIsDisconnected() {
        owner.refusal = "no more peers";

        channel.pipeline().fireUserEventTriggered(INFO);

        assertThat(channel.isOpen()).isFalse();
        assertThat(owner.calls)
                .containsExactly("began", "failed: ILLEGAL_STATE: no more peers", "origin ended", "ended");
    }

    @Test
    void aHandshakeThatThisSideEndsHasNotFailed() {
        handler.close(1);

        assertThat(channel.isOpen()).isFalse();
        assertThat(owner.calls).containsExactly("began", "origin ended", "ended");
    }

    /** Such as behind TLS, whose end takes a moment. */
    @Test
    void aHandshakeThatHasFailedBeforeThisSideEndsItIsReported() {
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                // it waits for the peer
            }
        });
        handler.fail(new IOException("of the handshake"));

        handler.close(1);
        channel.unsafe().close(channel.voidPromise());

        assertThat(owner.calls).contains("failed: of the handshake");
    }

    @Test
    void theEndOfAPeerIsReportedOnce() {
        channel.pipeline().fireUserEventTriggered(INFO);
        owner.calls.clear();

        channel.close();
        handler.lost();

        assertThat(owner.calls).containsExactly("down", "origin ended", "ended");
        assertThat(handler.isOpen()).isFalse();
    }

    @Test
    void aConnectionIsIdleWhenTheTransportHasTakenItsMessages() {
        channel.pipeline().fireUserEventTriggered(INFO);

        handler.write(message("1"), null);
        handler.write(message("2"), null);

        assertThat(handler.isIdle()).isFalse();
        channel.written(2);
        assertThat(handler.isIdle()).isTrue();
        assertThat(context.tally().ofAllPeers().get(Counter.WRITTEN)).isEqualTo(2);
    }

    @Test
    void aChannelThatIsWritableAgainIsReported() {
        channel.pipeline().fireUserEventTriggered(INFO);
        channel.writable(false);
        assertThat(handler.isWritable()).isFalse();
        channel.runPendingTasks();
        owner.calls.clear();

        channel.writable(true);
        channel.runPendingTasks();

        assertThat(owner.calls).containsExactly("writable");
    }

    /** Another connection has the name of its peer, and may be about to end. */
    @Test
    void whatANewcomerSendsWaitsUntilItMayJoin() {
        ArrayList<String> calls = new ArrayList<>();
        PeerHandler holder = new PeerHandler(context, new RecordedOwner(context), new RecordedOrigin(calls));
        WrittenChannel other = new WrittenChannel(holder);
        other.pipeline().fireUserEventTriggered(INFO);
        owner.inTheWay = holder;
        channel.pipeline().fireUserEventTriggered(INFO);
        channel.pipeline().fireChannelRead(message("early"));
        assertThat(owner.calls).containsExactly("began");
        assertThat(channel.config().isAutoRead()).isFalse();

        other.close();

        assertThat(owner.calls).containsExactly("began", "origin up", "up", "received 1");
        other.finishAndReleaseAll();
    }

    @Test
    void aNewcomerWhoseDeferredDataCannotBeTakenIsDisconnected() {
        PeerHandler holder =
                new PeerHandler(context, new RecordedOwner(context), new RecordedOrigin(new ArrayList<>()));
        WrittenChannel other = new WrittenChannel(holder);
        other.pipeline().fireUserEventTriggered(INFO);
        owner.inTheWay = holder;
        channel.pipeline().fireUserEventTriggered(INFO);
        ZMTPMessage second = message("second");
        channel.pipeline().fireChannelRead(message("first"));
        channel.pipeline().fireChannelRead(second);
        owner.failure = new OutOfMemoryError("no memory for a message");

        other.close();

        assertThat(channel.isOpen()).isFalse();
        assertThat(owner.calls)
                .containsExactly("began", "origin up", "up", "received 1", "down", "origin ended", "ended");
        assertThat(second.refCnt()).isZero();
        other.finishAndReleaseAll();
    }
}
