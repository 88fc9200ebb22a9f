package dev.zmtp.codec.writing;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What happens at the last byte of a batch: exact fits, one byte more, and buffers that grow and shrink. */
class BatchBoundariesTest {

    private final Gate gate = new Gate();

    private ScriptedPeer dealer() {
        return gate.start(InTraffic.as(DEALER));
    }

    private static ZMTPMessage message(int length) {
        return ZMTPMessage.from(Hex.buffer("61*" + length));
    }

    @Test
    void aFrameThatFitsExactlyGoesToTheOpenBuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(253)); // 255 bytes of 512
            peer.channel.write(message(255)); // the longest with a short header: 257
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(512);
            assertThat(peer.received()).isEqualTo(Hex.of("00 fd 61*253 / 00 ff 61*255"));
        }
    }

    @Test
    void aFrameThatIsAByteTooLongGoesToTheNextBuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(254)); // 256 bytes of 512
            peer.channel.write(message(255)); // 257
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(256, 257);
            assertThat(peer.received()).isEqualTo(Hex.of("00 fe 61*254 / 00 ff 61*255"));
        }
    }

    @Test
    void aBodyOf256BytesGetsALongHeaderAlsoInAnOpenBuffer() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(1));
            peer.channel.write(message(256));
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(268);
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 02 00*6 01 00 61*256"));
        }
    }

    @Test
    void theHeaderOfALargeBodyGoesToTheNextBufferIfItDoesNotFit() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(message(253));
            peer.channel.write(message(253)); // 510 bytes of 512
            peer.channel.write(message(5000));
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(510, 9, 5000);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void anEncodedMessageThatDoesNotFitGoesToTheNextBuffer() {
        ScriptedEncoder encoder = new ScriptedEncoder(
                300, (object, writer) -> writer.frame(300, false).writeZero(300));
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .before(gate)
                .set(codec -> codec.encoder(session -> encoder))
                .start()) {
            gate.reset();
            peer.channel.write("one");
            peer.channel.write("two");
            peer.channel.flush();
            assertThat(gate.writes).containsExactly(309, 309);
            peer.channel.releaseOutbound();
        }
    }

    /** Buffers of 512 bytes to 32 KiB take 254 frames of 256 bytes; the first of 64 KiB takes 256. */
    @Test
    void aBufferOf64KibibytesThatAMessageFillsIsHandedOverAtOnce() {
        try (ScriptedPeer peer = dealer()) {
            for (int i = 0; i < 509; i++) {
                peer.channel.write(message(254));
            }
            assertThat(gate.writes).containsExactly(512, 1024, 2048, 4096, 8192, 16384, 32768);
            peer.channel.write(message(254));
            assertThat(gate.writes).endsWith(32768, 65536);
            peer.channel.flush();
            assertThat(gate.writes).endsWith(32768, 65536);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void aBufferOf64KibibytesThatASubscriptionFillsIsHandedOverAtOnce() {
        try (ScriptedPeer peer = InTraffic.as(SUB).before(gate).start()) {
            gate.reset();
            for (int i = 0; i < 510; i++) {
                peer.channel.write(ZMTPSubscription.subscribe("t".repeat(244))); // a command of 256 bytes
            }
            assertThat(gate.writes).endsWith(32768, 65536);
            peer.channel.releaseOutbound();
        }
    }

    /** The capacity of each buffer. */
    private static final class Capacities extends ChannelOutboundHandlerAdapter {
        private final List<Integer> all = new ArrayList<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            all.add(((ByteBuf) msg).capacity());
            ctx.write(msg, promise);
        }
    }

    @Test
    void aBufferThatWasTooSmallIsFollowedByOneOfTwiceItsSizeUpTo64Kibibytes() {
        Capacities capacities = new Capacities();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(capacities).start()) {
            capacities.all.clear();
            for (int i = 0; i < 3 * 512; i++) {
                peer.channel.write(message(254));
            }
            assertThat(capacities.all).startsWith(512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 65536);
            assertThat(capacities.all).allMatch(capacity -> capacity <= 65536);
            peer.channel.flush();
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void buffersHalveAfter16SmallFlushesInARowDownTo512Bytes() {
        Capacities capacities = new Capacities();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(capacities).start()) {
            for (int i = 0; i < 8; i++) {
                peer.channel.write(message(254)); // 512, 1024, and two messages in 2,048 bytes
            }
            peer.channel.flush();
            capacities.all.clear();
            for (int i = 0; i < 64; i++) {
                peer.channel.writeAndFlush(message(10));
            }
            assertThat(capacities.all).isSortedAccordingTo((a, b) -> b - a).endsWith(512, 512);
            assertThat(capacities.all.stream().filter(capacity -> capacity == 1024))
                    .hasSize(16);
            assertThat(capacities.all).doesNotContain(256);
            peer.channel.releaseOutbound();
        }
    }

    @Test
    void aLargeFlushInBetweenKeepsTheBuffersLarge() {
        Capacities capacities = new Capacities();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(capacities).start()) {
            for (int i = 0; i < 3; i++) {
                peer.channel.write(message(254));
            }
            peer.channel.flush();
            capacities.all.clear();
            for (int i = 0; i < 40; i++) {
                peer.channel.writeAndFlush(message(i % 10 == 9 ? 700 : 10));
            }
            assertThat(capacities.all).containsOnly(1024);
            peer.channel.releaseOutbound();
        }
    }

    /** What is complete would have to move to another buffer, as the encoder holds this one. */
    @Test
    void writesFailIfThereIsNoMemoryToSaveThemWhenAnEncoderRemovesTheCodec() {
        FullAllocator allocator = new FullAllocator();
        AtomicReference<Runnable> remove = new AtomicReference<>();
        ScriptedEncoder encoder = new ScriptedEncoder(10, (object, writer) -> {
            ByteBuf out = writer.frame(1, false);
            if (object.equals("removes")) {
                allocator.full = true;
                remove.get().run();
                allocator.full = false;
            }
            out.writeByte('a');
        });
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .allocator(allocator)
                .set(codec -> codec.encoder(session -> encoder))
                .start()) {
            remove.set(() -> peer.channel.pipeline().remove(ZMTPCodec.class));
            ChannelFuture complete = peer.channel.write("complete");
            ChannelFuture unfinished = peer.channel.write("removes");
            peer.channel.flush();
            assertThat(complete.cause()).isInstanceOf(OutOfMemoryError.class);
            assertThat(unfinished.isDone()).isTrue();
            assertThat(unfinished.isSuccess()).isFalse();
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aWriterKeptAfterAnEncodingThatFailedWritesNothing() {
        AtomicReference<ZMTPWriter> kept = new AtomicReference<>();
        ScriptedEncoder encoder = new ScriptedEncoder(10, (object, writer) -> {
            writer.frame(1, true).writeByte('a');
            kept.set(writer);
            if (object.equals("fails")) {
                throw new IllegalStateException("a fault");
            }
            writer.frame(1, false).writeByte('b');
        });
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> encoder))
                .start()) {
            peer.channel.write("good");
            assertThat(peer.channel.write("fails").isSuccess()).isFalse();
            assertThatThrownBy(() -> kept.get().frame(1, false)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> kept.get().reframe(0, false)).isInstanceOf(IllegalStateException.class);
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("01 01 61 / 00 01 62"));
        }
    }

    @Test
    void anEndOfInputWhileHeldWritesAreSentIsReportedAfterTheHandshakeAndThem() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            peer.channel
                    .write("not a message")
                    .addListener(failed ->
                            peer.channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE));
            ChannelFuture sent = peer.channel.write(message(1));
            peer.send(ScriptedPeer.GREETING + ScriptedPeer.ready("ROUTER"));
            assertThat(peer.events).hasSize(2).first().isInstanceOf(ZMTPHandshakeSuccess.class);
            assertThat(peer.events).last().isEqualTo(ChannelInputShutdownEvent.INSTANCE);
            assertThat(sent.isSuccess()).isTrue();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aCloseWhileHeldWritesAreSentEndsTheHandshake() {
        try (ScriptedPeer peer = new ScriptedPeer(ZMTPCodec.of(DEALER))) {
            peer.channel.write("not a message").addListener(failed -> peer.channel.close());
            ChannelFuture unsent = peer.channel.write(message(1));
            peer.send(ScriptedPeer.GREETING + ScriptedPeer.ready("ROUTER"));
            assertThat(peer.events).singleElement().isInstanceOf(ZMTPHandshakeFailure.class);
            assertThat(unsent.isSuccess()).isFalse();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }
}
