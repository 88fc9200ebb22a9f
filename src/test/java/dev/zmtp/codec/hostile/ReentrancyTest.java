package dev.zmtp.codec.hostile;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.testing.Fired.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Failures;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a callback does during a write or a read, the order stays right and everything is accounted for. */
class ReentrancyTest {

    private static ZMTPMessage text(String... frames) {
        return ZMTPMessage.fromUTF8(frames);
    }

    private static ZMTPMessage big(String oneByte) {
        return ZMTPMessage.from(Hex.buffer(oneByte + "*5000"));
    }

    /** Does something once for each of its callbacks. */
    private static final class Callback extends ChannelInboundHandlerAdapter {
        private Consumer<ChannelHandlerContext> onRead = ctx -> {};
        private Consumer<ChannelHandlerContext> onWritability = ctx -> {};
        private Consumer<ChannelHandlerContext> onEvent = ctx -> {};
        private int reads;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            reads++;
            Consumer<ChannelHandlerContext> once = onRead;
            onRead = any -> {};
            once.accept(ctx);
            ctx.fireChannelRead(msg);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            Consumer<ChannelHandlerContext> once = onWritability;
            onWritability = any -> {};
            once.accept(ctx);
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            Consumer<ChannelHandlerContext> once = onEvent;
            onEvent = any -> {};
            once.accept(ctx);
            ctx.fireUserEventTriggered(evt);
        }
    }

    private final Callback callback = new Callback();

    /** A codec on a channel that every buffer handed to the transport makes unwritable at once. */
    private ScriptedPeer dealer() {
        ScriptedPeer peer = InTraffic.as(DEALER).after(callback).start();
        peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
        return peer;
    }

    @Test
    void aWriteDuringAReadIsSentBeforeTheNextMessageIsRead() {
        try (ScriptedPeer peer = dealer()) {
            callback.onRead = ctx -> ctx.writeAndFlush(text("a"));
            peer.send("00 01 61 / 00 01 62");
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
            assertThat(peer.messages).hasSize(2);
        }
    }

    @Test
    void aWriteInTheEventHandlerIsTheFirst() {
        callback.onEvent = ctx -> ctx.writeAndFlush(text("first"));
        List<String> early = new ArrayList<>();
        ChannelOutboundHandlerAdapter spy = new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                early.add(Fired.describe(msg));
                ctx.write(msg, promise);
            }
        };
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .peer(ZMTPVersion.ZMTP10)
                .before(spy)
                .after(callback)
                .start()) {
            assertThat(early).last().isEqualTo("bytes " + Hex.of("06 00 \"first\""));
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @Test
    void aWriteInAListenerFollowsTheWriteItListensTo() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel.write(ZMTPMessage.fromUTF8("a")).addListener(done -> peer.channel.writeAndFlush(text("b")));
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61 / 00 01 62"));
        }
    }

    @Test
    void writesDuringAWriteDoNotSplitItsMessage() {
        try (ScriptedPeer peer = dealer()) {
            callback.onWritability = ctx -> {
                ctx.write(text("b"));
                ctx.write(big("63"));
                ctx.write(text("d"));
            };
            peer.channel.write(ZMTPMessage.from(Hex.buffer("61*5000"), Hex.buffer("61"), Hex.buffer("61*5000")));
            peer.channel.flush();
            assertThat(peer.received())
                    .isEqualTo(Hex.of("03 00*6 13 88 61*5000 / 01 01 61 / 02 00*6 13 88 61*5000"
                            + " 00 01 62 / 02 00*6 13 88 63*5000 / 00 01 64"));
        }
    }

    @Test
    void aFlushOfAWriteFromACallbackIsNotLost() {
        try (ScriptedPeer peer = dealer()) {
            callback.onWritability = ctx -> ctx.writeAndFlush(text("b"));
            ChannelFuture write = peer.channel.write(big("61"));
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*6 13 88 61*5000 / 00 01 62"));
            assertThat(write.isSuccess()).isTrue();
        }
    }

    @Test
    void aFlushOfAWriteFromAListenerDuringAWriteIsNotLost() {
        try (ScriptedPeer peer = dealer()) {
            ChannelPromise promise = peer.channel.newPromise();
            promise.addListener(failed -> peer.channel.writeAndFlush(text("instead")));
            peer.channel.write("no message", promise);
            assertThat(peer.received()).isEqualTo(Hex.of("00 07 \"instead\""));
        }
    }

    @Test
    void nothingIsFlushedUnasked() {
        try (ScriptedPeer peer = dealer()) {
            ChannelPromise promise = peer.channel.newPromise();
            promise.addListener(failed -> peer.channel.write(text("instead")));
            peer.channel.write("no message", promise);
            assertThat(peer.received()).isEmpty();
        }
    }

    @Test
    void aCloseDuringAWriteAccountsForTheMessage() {
        try (ScriptedPeer peer = dealer()) {
            ByteBuf first = Hex.buffer("61*5000");
            ByteBuf second = Hex.buffer("62*5000");
            List<ChannelFuture> late = new ArrayList<>();
            callback.onWritability = ctx -> {
                ctx.close();
                late.add(ctx.write(text("late")));
            };
            ChannelFuture before = peer.channel.write(ZMTPMessage.fromUTF8("before"));
            ChannelFuture write = peer.channel.write(ZMTPMessage.from(first, second));
            ChannelFuture behind = peer.channel.write(ZMTPMessage.fromUTF8("behind"));
            peer.channel.runPendingTasks();
            assertThat(List.of(before, write, behind, late.get(0))).allMatch(ChannelFuture::isDone);
            assertThat(List.of(before, write, behind, late.get(0))).noneMatch(ChannelFuture::isSuccess);
            assertThat(first.refCnt()).isZero();
            assertThat(second.refCnt()).isZero();
        }
    }

    @Test
    void aRemovalInAListenerOfAFlushIsHarmless() {
        try (ScriptedPeer peer = dealer()) {
            peer.channel
                    .write(ZMTPMessage.fromUTF8("a"))
                    .addListener(done -> peer.channel.pipeline().remove(ZMTPCodec.class));
            peer.channel.flush();
            assertThat(peer.received()).isEqualTo(Hex.of("00 01 61"));
            assertThat(peer.channel.isActive()).isTrue();
        }
    }

    @Test
    void aCloseDuringAReadEndsIt() {
        try (ScriptedPeer peer = dealer()) {
            ChannelFuture[] write = new ChannelFuture[1];
            callback.onRead = ctx -> {
                write[0] = ctx.write(text("a"));
                ctx.close();
            };
            peer.channel.pipeline().fireChannelRead(Hex.buffer("00 01 61 / 00 01 62 / 01 01 63"));
            peer.channel.runPendingTasks();
            assertThat(write[0].isDone()).isTrue();
            assertThat(callback.reads).isOne();
        }
    }

    @Test
    void bytesReadInACallbackFollowThoseBeingRead() {
        try (ScriptedPeer peer = InTraffic.as(PAIR).after(callback).start()) {
            callback.onRead = ctx -> {
                ctx.pipeline().fireChannelRead(Hex.buffer("63 / 00 01"));
                ctx.pipeline().fireChannelRead(Hex.buffer("64"));
            };
            peer.send("00 01 61 / 00 02 62");
            assertThat(peer.messages).containsExactly("message 61", "message 6263", "message 64");
        }
    }

    @Test
    void bytesReadInACallbackAfterAFailureAreDiscarded() {
        ByteBuf late = Hex.buffer("00 01 63");
        try (ScriptedPeer peer = InTraffic.as(PAIR).after(callback).start()) {
            callback.onRead = ctx -> ctx.pipeline().fireChannelRead(late);
            peer.send("00 01 61 / 08 00");
            Failures.assertMalformed(peer);
            assertThat(peer.messages).containsExactly("message 61");
            assertThat(late.refCnt()).isZero();
        }
    }

    @Test
    void aPingReadDuringAWriteIsAnsweredAfterTheMessage() {
        try (ScriptedPeer peer = InTraffic.as(DEALER).after(callback).start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 100_000));
            ChannelPromise refused = peer.channel.newPromise();
            refused.addListener(failed -> {
                peer.channel.pipeline().fireChannelRead(Hex.buffer("04 08 04 \"PING\" 00 00 78"));
                peer.channel.pipeline().fireChannelReadComplete();
                peer.channel.write(big("61"));
            });
            peer.channel.write("no message", refused);
            assertThat(peer.received()).isEqualTo(Hex.of("02 00*6 13 88 61*5000 / 04 06 04 \"PONG\" 78"));
        }
    }

    @ParameterizedTest(name = "{0} messages asked for")
    @ValueSource(ints = {1, 3})
    void aReadInACallbackRequestsTheNextMessage(int asked) {
        int[] reads = new int[1];
        ChannelOutboundHandlerAdapter transport = new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads[0]++;
                ctx.read();
            }
        };
        try (ScriptedPeer peer =
                InTraffic.as(PAIR).before(transport).after(callback).start()) {
            peer.channel.config().setAutoRead(false);
            for (int i = 0; i < asked; i++) {
                reads[0] = 0;
                peer.channel.read();
                peer.send("00 02 61"); // half a message: the codec reads on
                assertThat(reads[0]).isEqualTo(2);
                peer.send("62");
                assertThat(reads[0]).isEqualTo(2);
            }
        }
    }

    /** Does by chance, in every callback, what a handler may do, and keeps accounts of it. */
    private static final class Chaos extends ChannelInboundHandlerAdapter {
        private final Random random;
        private final List<ChannelFuture> writes = new ArrayList<>();
        private final List<Integer> completions = new ArrayList<>();
        private final List<String> heard = new ArrayList<>();
        private final ByteBuf input;
        private final boolean closes;
        private int depth;

        /** It acts on user events, too. */
        private final boolean actsOnEvents;

        private Chaos(long seed, int messages) {
            random = new Random(seed);
            closes = seed % 3 == 0;
            actsOnEvents = !consolidates(seed);
            input = Hex.buffer("");
            for (int i = 0; i < messages; i++) {
                ZMTPMessage message = message(i);
                message.write(input, ZMTPVersion.ZMTP31);
                message.release();
            }
        }

        private ZMTPMessage message(int number) {
            List<ByteBuf> frames = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                int length = random.nextInt(10) == 0 ? 4097 + random.nextInt(100) : random.nextInt(600);
                frames.add(io.netty.buffer.ByteBufAllocator.DEFAULT
                        .buffer(length + 1)
                        .writeZero(length));
            }
            frames.add(ByteBufAllocator.DEFAULT.buffer(4).writeInt(number));
            return ZMTPMessage.from(frames);
        }

        private static int number(ZMTPMessage message) {
            return message.frame(message.size() - 1).getInt(0);
        }

        private void act(ChannelHandlerContext ctx) {
            if (depth > 4) {
                return;
            }
            depth++;
            for (int i = random.nextInt(3); i > 0; i--) {
                switch (random.nextInt(closes ? 60 : 59)) {
                    case 0, 1, 2, 3, 4 -> {
                        ChannelPromise promise = ctx.newPromise().addListener(done -> act(ctx));
                        ctx.write("refused", promise);
                    }
                    case 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 -> ctx.flush();
                    case 15, 16, 17, 18 -> feed(ctx);
                    case 19 -> ctx.read();
                    case 59 -> ctx.close();
                    default -> write(ctx);
                }
            }
            depth--;
        }

        private void write(ChannelHandlerContext ctx) {
            int number = writes.size();
            ChannelPromise promise = ctx.newPromise();
            promise.addListener(done -> {
                completions.add(number);
                act(ctx);
            });
            writes.add(promise);
            ctx.write(message(number), promise);
        }

        private void feed(ChannelHandlerContext ctx) {
            int bytes = Math.min(input.readableBytes(), random.nextInt(random.nextBoolean() ? 20 : 2000));
            ctx.pipeline().fireChannelRead(ctx.alloc().buffer(bytes + 1).writeBytes(input, bytes));
            ctx.pipeline().fireChannelReadComplete();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            heard.add(String.valueOf(number((ZMTPMessage) msg)));
            ReferenceCountUtil.release(msg);
            act(ctx);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            act(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            act(ctx);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (actsOnEvents) {
                act(ctx);
            }
        }

        /** A flush that waits could send the beginning of a message in the handshake, where it would not be seen. */
        static boolean consolidates(long seed) {
            return seed % 2 == 0;
        }
    }

    @Test
    void whatArrivesIsWhatPromisesSayWhateverCallbacksDo() {
        for (long seed = 0; seed < 300; seed++) {
            chaos(seed);
        }
    }

    private static void chaos(long seed) {
        Chaos chaos = new Chaos(seed, 30);
        ByteBuf sent = Hex.buffer("");
        try (ScriptedPeer peer = InTraffic.as(PAIR)
                .set(codec -> codec.consolidateFlushes(Chaos.consolidates(seed)))
                .after(chaos)
                .start()) {
            // What was sent with the event is gone from the channel, so it starts here.
            int before =
                    (int) chaos.writes.stream().filter(ChannelFuture::isSuccess).count();
            int mark = 1 + chaos.random.nextInt(5000);
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(mark, 2 * mark));
            ChannelHandlerContext ctx = peer.channel.pipeline().context(chaos);
            for (int i = 0; i < 1000 && chaos.input.isReadable() && peer.channel.isActive(); i++) {
                chaos.act(ctx);
                chaos.feed(ctx);
                peer.channel.runPendingTasks();
            }
            boolean open = peer.channel.isActive();
            if (open) {
                peer.channel.flush();
            }
            peer.channel.close();
            for (ByteBuf piece = peer.channel.readOutbound(); piece != null; piece = peer.channel.readOutbound()) {
                sent.writeBytes(piece);
                piece.release();
            }
            assertThat(peer.failures).as("seed %d", seed).isEmpty();
            List<Integer> arrived = new ArrayList<>();
            for (ZMTPMessage message = ZMTPMessage.read(sent, ZMTPVersion.ZMTP31);
                    message != null;
                    message = ZMTPMessage.read(sent, ZMTPVersion.ZMTP31)) {
                arrived.add(Chaos.number(message));
                message.release();
            }
            List<Integer> promised = new ArrayList<>();
            for (int i = before; i < chaos.writes.size(); i++) {
                assertThat(chaos.writes.get(i).isDone())
                        .as("seed %d, write %d", seed, i)
                        .isTrue();
                if (chaos.writes.get(i).isSuccess()) {
                    promised.add(i);
                }
            }
            assertThat(arrived).as("seed %d", seed).isEqualTo(promised);
            assertThat(chaos.completions)
                    .as("seed %d", seed)
                    .hasSameSizeAs(chaos.writes)
                    .doesNotHaveDuplicates();
            for (int i = 0; i < chaos.heard.size(); i++) {
                assertThat(chaos.heard.get(i)).as("seed %d", seed).isEqualTo(String.valueOf(i));
            }
            if (open) {
                assertThat(chaos.heard).as("seed %d", seed).hasSize(30);
            }
        } finally {
            sent.release();
            chaos.input.release();
        }
    }

    /**
     * The answer finds no room, which makes the transport call back, and what is written then leaves room for no
     * answer.
     */
    @Test
    void aWriteFromACallbackOfAPongFollowsThePong() {
        List<ChannelFuture> writes = new ArrayList<>();
        try (ScriptedPeer peer = InTraffic.as(DEALER)
                .after(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        if (writes.isEmpty()) {
                            writes.add(ctx.write(ZMTPMessage.fromUTF8("m".repeat(486))));
                        }
                        ctx.fireChannelWritabilityChanged();
                    }
                })
                .start()) {
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(1, 2));
            for (int i = 0; i < 2; i++) {
                peer.channel.write(ZMTPMessage.fromUTF8("x".repeat(249))); // 502 bytes of the first batch's 512
            }
            assertThat(peer.channel.isWritable()).isTrue();

            peer.send("04 16 04 \"PING\" 00 00 61*15");
            peer.channel.flush();

            assertThat(peer.received())
                    .isEqualTo(Hex.of("00 f9 78*249 00 f9 78*249 / 04 14 04 \"PONG\" 61*15 / 02 00*6 01 e6 6d*486"));
            assertThat(writes).hasSize(1).allMatch(ChannelFuture::isSuccess);
        }
    }
}
