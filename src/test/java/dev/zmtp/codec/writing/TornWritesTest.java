package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.DefaultChannelPromise;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** There is no memory, once, between the codec and the transport. The peer gets whole messages, or the end. */
class TornWritesTest {

    private static final String MESSAGE = "00 01 61";

    /** Throws when it is kept, which is the allocation of its list. */
    private static final class WithoutMemory extends DefaultChannelPromise {
        private boolean thrown;

        WithoutMemory(Channel channel) {
            super(channel);
        }

        @Override
        public boolean isVoid() {
            if (!thrown) {
                thrown = true;
                throw new OutOfMemoryError("of the test");
            }
            return false;
        }
    }

    private static ChannelFuture write(ScriptedPeer peer) {
        return peer.channel.write(ZMTPMessage.fromUTF8("a"));
    }

    @Test
    void aMessageWhosePromiseIsNotKeptIsNotSent() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelFuture before = write(peer);
            ChannelFuture failed =
                    peer.channel.write(ZMTPMessage.fromUTF8("not", "sent"), new WithoutMemory(peer.channel));
            ChannelFuture after = write(peer);
            peer.channel.flush();

            assertThat(failed.cause()).hasRootCauseInstanceOf(OutOfMemoryError.class);
            assertThat(peer.received()).isEqualTo(Hex.of(MESSAGE + MESSAGE));
            assertThat(before.isSuccess()).isTrue();
            assertThat(after.isSuccess()).isTrue();
            assertThat(peer.codec().session().messagesWritten()).isEqualTo(2);
        }
    }

    /** The frames before it are with the transport. */
    @Test
    void theConnectionEndsIfALongFrameIsNotPassedOn() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelFuture failed = peer.channel.write(
                    ZMTPMessage.from(Hex.buffer("62"), Hex.buffer("63*5000")), new WithoutMemory(peer.channel));
            ChannelFuture after = write(peer);
            peer.channel.flush();

            assertThat(failed.cause()).hasRootCauseInstanceOf(OutOfMemoryError.class);
            assertThat(after.isSuccess()).isFalse();
            assertThat(after.isDone()).isTrue();
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(peer.received()).doesNotEndWith(Hex.of(MESSAGE));
        }
    }

    @Test
    void aChannelIsClosedAlthoughTheLastBatchIsNotPassedOn() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog");
                ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            ChannelFuture written = write(peer);
            log.failOnce(new OutOfMemoryError("of the test"));

            peer.channel.close();

            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(written.isDone()).isTrue();
        }
    }

    @Test
    void theConnectionEndsIfABatchIsNotPassedOnAndAllItsPromisesFail() {
        try (CapturedLog log = new CapturedLog("dev.zmtp.codec.FrameLog");
                ScriptedPeer peer = InTraffic.as(DEALER).start()) {
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                if (i == 7) {
                    log.failOnce(new OutOfMemoryError("of the test"));
                }
                writes.add(peer.channel.write(ZMTPMessage.from(Hex.buffer("64*300"))));
            }
            peer.channel.flush();

            assertThat(writes).allSatisfy(write -> assertThat(write.isDone()).isTrue());
            assertThat(peer.channel.isActive()).isFalse();
            assertThat(peer.received()).isEmpty();
        }
    }
}
