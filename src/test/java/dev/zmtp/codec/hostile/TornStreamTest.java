package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.SIGNATURE;
import static dev.zmtp.testing.ScriptedPeer.command;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPMetadata;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPWriter;
import dev.zmtp.security.ZMTPMechanism;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Gate;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import dev.zmtp.testing.ToyMechanism;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.EncoderException;
import io.netty.util.AbstractReferenceCounted;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A channel that stays open has whole messages on it, whenever the codec is removed: nothing could follow half of one.
 */
class TornStreamTest {

    private static final String HALF = "codec removed while a message was partly written";

    /** Does something when the transport has got so many buffers. */
    private static final class At extends ChannelOutboundHandlerAdapter {
        private int countdown;
        private Runnable action = () -> {};

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ctx.write(msg, promise);
            if (--countdown == 0) {
                action.run();
            }
        }
    }

    private final At transport = new At();

    private ScriptedPeer removingAt(int write) {
        ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start();
        transport.countdown = write;
        transport.action = () -> peer.channel.pipeline().remove(peer.codec());
        return peer;
    }

    private static ZMTPMessage bodies(int... lengths) {
        ByteBuf[] frames = new ByteBuf[lengths.length];
        for (int i = 0; i < lengths.length; i++) {
            frames[i] = Hex.buffer("61*" + lengths[i]);
        }
        return ZMTPMessage.from(frames);
    }

    static List<Arguments> midst() {
        return List.of(
                Arguments.of("behind the header of a body sent by reference", new int[] {5000}, 1),
                Arguments.of("between two bodies sent by reference", new int[] {5000, 5000}, 2),
                Arguments.of("behind a small frame and a header", new int[] {10, 5000, 10}, 1),
                Arguments.of("before a small last frame", new int[] {5000, 10}, 2),
                Arguments.of("behind a full buffer of small frames", new int[] {400, 400, 10}, 1));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("midst")
    void aRemovalDuringAMessageEndsTheConnection(String where, int[] lengths, int write) {
        try (ScriptedPeer peer = removingAt(write)) {
            ChannelFuture before = peer.channel.write(ZMTPMessage.fromUTF8("before"));
            ChannelFuture torn = peer.channel.write(bodies(lengths));
            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(peer.failures)
                    .singleElement()
                    .isInstanceOfSatisfying(
                            EncoderException.class,
                            failure -> assertThat(failure).hasMessageStartingWith(HALF));
            assertThat(before.isDone()).isTrue();
            assertThat(torn.isDone()).isTrue();
            assertThat(torn.isSuccess()).isFalse();
            assertThat(peer.received()).isEmpty(); // nothing was flushed
        }
    }

    static List<Arguments> ends() {
        return List.of(
                Arguments.of("behind a body sent by reference", new int[] {5000}, 2),
                Arguments.of("behind the last of three", new int[] {5000, 10, 5000}, 4),
                Arguments.of("behind a buffer that one message filled", new int[] {4096, 4096, 4096, 4096}, 4));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ends")
    void aRemovalAfterTheLastByteOfAMessageLetsItBeSent(String where, int[] lengths, int write) {
        try (ScriptedPeer peer = removingAt(write)) {
            ChannelFuture written = peer.channel.write(bodies(lengths));
            peer.channel.flush();
            assertThat(peer.failures).isEmpty();
            assertThat(written.isSuccess()).isTrue();
            StringBuilder whole = new StringBuilder();
            for (int i = 0; i < lengths.length; i++) {
                int more = i < lengths.length - 1 ? 1 : 0;
                whole.append(
                        lengths[i] > 255
                                ? "%02x %016x 61*%d ".formatted(2 + more, lengths[i], lengths[i])
                                : "%02x %02x 61*%d ".formatted(more, lengths[i], lengths[i]));
            }
            assertThat(peer.received()).isEqualTo(Hex.of(whole.toString()));
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aRemovalBetweenMessagesFailsOnlyTheNext() {
        try (ScriptedPeer peer = removingAt(1)) {
            ChannelFuture first = peer.channel.write(bodies(400));
            ChannelFuture second = peer.channel.write(bodies(400)); // finds no room, so that the first is handed over
            peer.channel.flush();
            assertThat(first.isSuccess()).isTrue();
            assertThat(second.cause())
                    .isInstanceOf(EncoderException.class)
                    .hasCauseInstanceOf(ClosedChannelException.class);
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*6 01 90 61*400"));
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    @Test
    void aFailedWriteDuringTheRemovalEndsTheConnection() {
        Gate gate = new Gate();
        try (ScriptedPeer peer = InTraffic.as(DEALER).before(gate).start()) {
            ChannelFuture written = peer.channel.write(bodies(5000, 10)); // its end is in the open buffer
            gate.remaining = 0;
            peer.channel.pipeline().remove(peer.codec());
            assertThat(written.cause()).isSameAs(gate.broken);
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    @Test
    void aListenerMayRemoveTheCodecAfterACompleteMessage() {
        try (ScriptedPeer peer = new ScriptedPeer(transport, ZMTPCodec.of(DEALER)).send(GREETING)) {
            peer.received();
            ChannelFuture first = peer.channel.write(bodies(5000, 10)); // its end stays in the open buffer
            peer.channel
                    .write("no message")
                    .addListener(failed -> peer.channel.pipeline().remove(ZMTPCodec.class));
            peer.send(ready("ROUTER"));
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause())
                    .hasMessageStartingWith("handshake with embedded ended as the codec was removed");
            assertThat(first.isDone()).isTrue();
        }
    }

    @Test
    void aRemovalDuringAHeldMessageEndsTheHandshakeAndTheConnection() {
        try (ScriptedPeer peer = new ScriptedPeer(transport, ZMTPCodec.of(DEALER)).send(GREETING)) {
            ChannelFuture held = peer.channel.writeAndFlush(bodies(5000));
            ChannelFuture behind = peer.channel.writeAndFlush(bodies(5000));
            transport.countdown = 1;
            transport.action = () -> peer.channel.pipeline().remove(ZMTPCodec.class);
            peer.send(ready("ROUTER") + "00 01 61");
            assertThat(peer.onlyEvent(ZMTPHandshakeFailure.class).cause()).hasMessageStartingWith(HALF);
            assertThat(peer.failures).isEmpty();
            assertThat(peer.messages).isEmpty(); // a failed connection passes no bytes on
            assertThat(peer.channel.isOpen()).isFalse();
            assertThat(List.of(held, behind)).allMatch(ChannelFuture::isDone).noneMatch(ChannelFuture::isSuccess);
        }
    }

    /** Ends its connection in the middle of a message, and then writes the rest of it. */
    private static ZMTPCodec.Builder ending(ZMTPCodec.Builder codec) {
        return codec.encoder(session -> new ZMTPEncoder() {
            @Override
            public void estimate(Object message, ZMTPEstimator estimator) {
                estimator.frame(3);
                estimator.frame(100);
            }

            @Override
            public void encode(Object message, ZMTPWriter writer) {
                writer.frame(3, true).writeBytes(new byte[] {1, 2, 3});
                if (message instanceof Runnable end) {
                    end.run();
                }
                writer.frame(100, false).writeZero(100);
            }

            @Override
            public void close() {}
        });
    }

    private static final String WHOLE = "01 03 010203 / 00 64 00*100 ";

    @ParameterizedTest(name = "which then writes: {0}")
    @ValueSource(strings = {"", "ca fe"})
    void noPartOfAMessageIsSentIfItsEncoderRemovesTheCodec(String behind) {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(TornStreamTest::ending).start()) {
            ChannelFuture before = peer.channel.write("whole");
            Runnable end = () -> {
                peer.channel.pipeline().remove(peer.codec());
                peer.channel.writeAndFlush(Hex.buffer(behind));
            };
            ChannelFuture unfinished = peer.channel.write(end);
            assertThat(before.isSuccess()).isTrue();
            assertThat(unfinished.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(peer.received()).isEqualTo(Hex.of(WHOLE + behind));
            assertThat(peer.channel.isOpen()).isTrue();
            assertThat(peer.failures).isEmpty();
        }
    }

    @Test
    void anEncoderThatRemovesTheCodecAtItsFirstMessageKeepsItsBuffer() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(TornStreamTest::ending).start()) {
            ByteBuf[] others = new ByteBuf[1];
            Runnable end = () -> {
                peer.channel.pipeline().remove(peer.codec());
                // A buffer of the same size, which must not be the one that the encoder goes on to write to.
                others[0] = peer.channel.alloc().ioBuffer(512);
            };
            ChannelFuture unfinished = peer.channel.write(end);
            assertThat(unfinished.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(others[0].readableBytes()).isZero();
            others[0].release();
            peer.channel.flush();
            assertThat(peer.received()).isEmpty();
        }
    }

    @ParameterizedTest(name = "{0} whole messages before")
    @ValueSource(ints = {0, 2})
    void anEncoderThatClosesTheChannelKeepsItsBuffer(int before) {
        Gate gate = new Gate();
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).before(gate).set(TornStreamTest::ending).start()) {
            gate.reset();
            for (int i = 0; i < before; i++) {
                peer.channel.write("whole");
            }
            Runnable end = peer.channel::close;
            ChannelFuture unfinished = peer.channel.write(end);
            assertThat(unfinished.cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(gate.writes.stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(before * Hex.bytes(WHOLE).length);
            assertThat(gate.writesBeforeClose).isEqualTo(gate.writes.size());
        }
    }

    @Test
    void anEncoderThatFailsTheConnectionKeepsItsBuffer() {
        try (ScriptedPeer peer =
                InTraffic.as(DEALER).set(TornStreamTest::ending).start()) {
            ChannelFuture before = peer.channel.write("whole");
            Runnable end = () -> peer.channel.pipeline().fireChannelRead(Hex.buffer("08 00"));
            ChannelFuture unfinished = peer.channel.write(end);
            Failures.assertMalformed(peer);
            assertThat(before.cause()).isSameAs(peer.failures.get(0));
            assertThat(unfinished.cause()).isSameAs(peer.failures.get(0));
            assertThat(peer.received()).isEmpty();
        }
    }

    /** The toy mechanism, with a callback after it has sealed half a frame. */
    private record EndingMechanism(ToyMechanism toy, Runnable inTheMidst, AtomicBoolean closed)
            implements ZMTPMechanism {

        EndingMechanism(ToyMechanism toy, Runnable inTheMidst) {
            this(toy, inTheMidst, new AtomicBoolean());
        }

        @Override
        public void close() {
            closed.set(true);
            toy.close();
        }

        @Override
        public String name() {
            return toy.name();
        }

        @Override
        public boolean isServer() {
            return toy.isServer();
        }

        @Override
        public @Nullable ByteBuf poll() {
            return toy.poll();
        }

        @Override
        public void receive(ByteBuf command) {
            toy.receive(command);
        }

        @Override
        public boolean isReady() {
            return toy.isReady();
        }

        @Override
        public ZMTPMetadata peerMetadata() {
            return toy.peerMetadata();
        }

        @Override
        public @Nullable ByteBuf refuse(ZMTPException cause) {
            return toy.refuse(cause);
        }

        @Override
        public FrameCipher cipher() {
            FrameCipher inner = toy.cipher();
            return new FrameCipher() {
                @Override
                public int sealedLength(int length) {
                    if (closed.get()) {
                        throw new IllegalStateException("sealedLength of a closed cipher (expected: not called)");
                    }
                    return inner.sealedLength(length);
                }

                @Override
                public void seal(int flags, ByteBuf body, ByteBuf out) {
                    inTheMidst.run();
                    inner.seal(flags, body, out);
                }

                @Override
                public int open(ByteBuf sealed) {
                    return inner.open(sealed);
                }
            };
        }
    }

    @ParameterizedTest(name = "at frame {0} of a message")
    @ValueSource(ints = {1, 2, 3})
    void aCipherThatRemovesTheCodecLeavesCompleteMessages(int frame) {
        Runnable[] action = {() -> {}};
        int[] sealed = new int[1];
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ROUTER)
                .mechanism(context ->
                        new EndingMechanism(ToyMechanism.server(context, (password, yes) -> yes.run()), () -> {
                            if (++sealed[0] == frame) {
                                action[0].run();
                            }
                        }))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            peer.send(SIGNATURE + "03 01 \"TOY\" 00*17 00 00*31 " + command("05 \"HELLO\" \"open\""));
            peer.send(command("08 \"INITIATE\" 0b \"Socket-Type\" 00000006 \"DEALER\""));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            peer.received();
            ChannelFuture before = peer.channel.write(ZMTPMessage.fromUTF8("b"));
            sealed[0] = 0;
            action[0] = () -> peer.channel.pipeline().remove(codec);
            ChannelFuture torn = peer.channel.write(ZMTPMessage.fromUTF8("x", "y", "z"));
            peer.channel.flush();
            assertThat(before.isSuccess()).isTrue();
            assertThat(frame == 3 ? torn.cause() : torn.cause().getCause()).isInstanceOf(ClosedChannelException.class);
            assertThat(peer.received()).isEqualTo(Hex.of("00 03 5a ff 9d"));
            assertThat(peer.channel.isOpen()).isTrue();
        }
    }

    /** Its nonces may be out of step with the peer's, which could not open what follows. */
    @Test
    void aCipherThatFailsEndsTheConnectionAndNothingOfTheMessageIsSent() {
        IllegalStateException fault = new IllegalStateException("nonces used up");
        AtomicBoolean fails = new AtomicBoolean();
        ZMTPCodec codec = ZMTPCodec.builder()
                .socketType(ROUTER)
                .mechanism(context ->
                        new EndingMechanism(ToyMechanism.server(context, (password, yes) -> yes.run()), () -> {
                            if (fails.get()) {
                                throw fault;
                            }
                        }))
                .build();
        try (ScriptedPeer peer = new ScriptedPeer(codec)) {
            peer.send(SIGNATURE + "03 01 \"TOY\" 00*17 00 00*31 " + command("05 \"HELLO\" \"open\""));
            peer.send(command("08 \"INITIATE\" 0b \"Socket-Type\" 00000006 \"DEALER\""));
            peer.onlyEvent(ZMTPHandshakeSuccess.class);
            peer.received();
            fails.set(true);
            ChannelFuture unsealed = peer.channel.writeAndFlush(ZMTPMessage.fromUTF8("x"));
            assertThat(unsealed.cause()).isInstanceOf(EncoderException.class).hasCause(fault);
            assertThat(peer.failures).containsExactly(unsealed.cause());
            assertThat(peer.received()).isEmpty();
            assertThat(peer.channel.isOpen()).isFalse();
        }
    }

    /** An object to encode that runs a callback when it is released. */
    private static final class Item extends AbstractReferenceCounted {
        private final Runnable released;

        private Item(Runnable released) {
            this.released = released;
        }

        @Override
        protected void deallocate() {
            released.run();
        }

        @Override
        public Item touch(Object hint) {
            return this;
        }
    }

    private static final class ItemEncoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(1);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            writer.frame(1, false).writeByte('a');
        }

        @Override
        public void close() {}
    }

    @ParameterizedTest(name = "{0} before, close {1}")
    @CsvSource({"0, false", "1, false", "2, true", "0, true"})
    void aMessageIsCompleteWhenItIsReleased(int before, boolean close) {
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .set(codec -> codec.encoder(session -> new ItemEncoder()))
                .start()) {
            for (int i = 0; i < before; i++) {
                peer.channel.write(new Item(() -> {}));
            }
            ChannelFuture write = peer.channel.write(new Item(() -> {
                if (close) {
                    peer.channel.close();
                } else {
                    peer.channel.pipeline().remove(peer.codec());
                }
            }));
            peer.channel.flush();
            assertThat(write.isDone()).isTrue();
            assertThat(write.isSuccess()).isEqualTo(!close); // what was not flushed before a close is lost
            assertThat(peer.received()).isEqualTo(close ? "" : "000161".repeat(before + 1));
            assertThat(peer.failures).isEmpty();
        }
    }
}
