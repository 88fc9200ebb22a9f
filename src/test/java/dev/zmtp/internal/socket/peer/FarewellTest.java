package dev.zmtp.internal.socket.peer;

import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.OutputShutdown;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A connection that this side ends, and whose peer may still read. */
class FarewellTest {

    private static final PeerInfo INFO =
            new PeerInfo(ByteBuffer.allocate(0), ZMTPSocketType.PULL, null, null, null, null);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final EmbeddedChannel clock = new EmbeddedChannel();
    private final SocketContext context =
            ClockedSockets.context(ZMTPSocketConfig.of(ZMTPSocketType.PUSH), clock.eventLoop(), () -> 1);
    private final RecordedOwner owner = new RecordedOwner(context);
    private final PeerHandler handler = new PeerHandler(context, owner, new RecordedOrigin(owner.calls));
    private final HalvesChannel channel = new HalvesChannel(handler);

    FarewellTest() {
        clock.freezeTime();
        channel.pipeline().fireUserEventTriggered(INFO);
        owner.calls.clear();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        clock.finishAndReleaseAll();
    }

    private void writeAndEnd() {
        handler.write(message("last"), null);
        channel.written(1);
        handler.close(SECOND);
        clock.runPendingTasks();
    }

    @Test
    void onlyTheOutputIsShutDown() {
        writeAndEnd();

        assertThat(channel.isOutputShutdown()).isTrue();
        assertThat(channel.isOpen()).isTrue();
    }

    @Test
    void whatIsLeftInTheOutputGoesFirst() {
        writeAndEnd();

        ZMTPMessage last = channel.readOutbound();
        assertThat(last.frameUTF8(0)).isEqualTo("last");
        last.release();
    }

    @Test
    void aReceiverThatHadNoRoomReadsOn() {
        handler.reading(false);

        writeAndEnd();

        assertThat(channel.config().isAutoRead()).isTrue();
    }

    @Test
    void whatThePeerSendsIsDropped() {
        writeAndEnd();
        owner.calls.clear();
        ZMTPMessage late = message("late");

        channel.writeInbound(late);

        assertThat(late.refCnt()).isZero();
        assertThat(owner.calls).isEmpty();
    }

    @Test
    void theSocketHasNoUseOfItBeforeItsEnd() {
        writeAndEnd();
        assertThat(owner.calls).containsExactly("down", "origin ended");

        channel.close();

        assertThat(owner.calls).containsExactly("down", "origin ended", "ended");
    }

    @Test
    void itEndsWithTheInput() {
        writeAndEnd();

        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aPeerThatDoesNotCloseIsNotWaitedForAnyLonger() {
        writeAndEnd();
        clock.advanceTimeBy(SECOND - 1, TimeUnit.NANOSECONDS);
        clock.runScheduledPendingTasks();
        assertThat(channel.isOpen()).isTrue();

        clock.advanceTimeBy(1, TimeUnit.NANOSECONDS);
        clock.runScheduledPendingTasks();

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aSocketThatClosesHasItsOwnTime() {
        writeAndEnd();

        handler.close(0);

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aConnectionWithoutMessagesEndsAtOnce() {
        handler.close(SECOND);

        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void aPeerThatDoesNotReadIsDisconnectedAtOnce() {
        handler.write(message("unread"), null);

        handler.refuse("too slow", 0);

        assertThat(channel.isOpen()).isFalse();
    }

    /** What still wants to write then fails, which is of no interest. */
    @Test
    void aFailureOfAWriteDoesNotEndIt() {
        writeAndEnd();

        channel.pipeline().fireExceptionCaught(new java.io.IOException("output shut down"));

        assertThat(channel.isOpen()).isTrue();
    }

    /** A channel whose output may be shut down. */
    private static final class HalvesChannel extends WrittenChannel implements OutputShutdown {
        private boolean outputShutdown;

        HalvesChannel(ChannelHandler... handlers) {
            super(handlers);
        }

        @Override
        public boolean isOutputShutdown() {
            return outputShutdown;
        }

        @Override
        public ChannelFuture shutdownOutput(ChannelPromise promise) {
            outputShutdown = true;
            return promise.setSuccess();
        }
    }
}
