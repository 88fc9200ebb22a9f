package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A transport that fails now and then and a user that does anything in any callback, up to removing the codec: each
 * promise completes once, no buffer leaks, nothing is fired after the end, and an open channel gets complete messages
 * only.
 */
class RandomTrafficTest {

    private static final int SEEDS = 1500;
    private static final int MESSAGES_IN = 20;

    /** Acts at random in each callback of the transport and of the pipeline, and keeps accounts. */
    private static final class User extends ChannelInboundHandlerAdapter {
        private final Random random;
        private final boolean ends;
        private final ByteBuf input = Hex.buffer("");
        private final List<Integer> heard = new ArrayList<>();
        private final List<ChannelPromise> promises = new ArrayList<>();
        private final List<Runnable> closes = new ArrayList<>();
        private final int[] completions = new int[1000];
        private ChannelHandlerContext ctx;
        private boolean started;
        private int depth;
        private int behindTheEnd;
        private boolean closed;
        private boolean removed;
        private boolean failed;

        private final ChannelDuplexHandler transport = new ChannelDuplexHandler() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                if (ends && random.nextInt(150) == 0) {
                    failed = true;
                    ReferenceCountUtil.release(msg);
                    promise.tryFailure(new IOException("broken pipe"));
                } else {
                    ctx.write(msg, promise);
                    act(); // after the write, as Netty's own queues call back once they hold the buffer
                }
            }

            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                // Later, as from an event loop: an embedded channel would empty its pipeline within the call.
                closes.add(() -> ctx.close(promise));
            }
        };

        private User(long seed) {
            random = new Random(seed);
            ends = seed % 4 != 0;
            for (int i = 0; i < MESSAGES_IN; i++) {
                ZMTPMessage message = message(i);
                message.write(input, ZMTPVersion.ZMTP31);
                message.release();
            }
        }

        private ZMTPMessage message(int number) {
            List<ByteBuf> frames = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                int length = random.nextInt(4) == 0 ? 4097 + random.nextInt(100) : random.nextInt(600);
                frames.add(ByteBufAllocator.DEFAULT.buffer(length + 1).writeZero(length));
            }
            ByteBuf last = ByteBufAllocator.DEFAULT.buffer(5000).writeInt(number);
            frames.add(random.nextInt(4) == 0 ? last.writeZero(4096) : last);
            return ZMTPMessage.from(frames);
        }

        private static int number(ZMTPMessage message) {
            return message.frame(message.size() - 1).getInt(0);
        }

        private void act() {
            if (!started || ctx.isRemoved() || depth > 3 || promises.size() > 200) {
                return;
            }
            depth++;
            switch (random.nextInt(40)) {
                case 0, 1, 2, 3, 4, 5, 6, 7 -> write();
                case 8 -> writeVoid();
                case 9, 10, 11 -> ctx.flush();
                case 12, 13, 14 -> feed();
                case 15 -> ctx.read();
                case 16 -> ctx.pipeline().fireChannelReadComplete();
                case 17 -> {
                    if (ends && random.nextInt(20) == 0) {
                        closed = true;
                        ctx.close();
                    }
                }
                case 18 -> {
                    if (ends && random.nextInt(20) == 0 && !removed && !closed) {
                        removed = true;
                        ctx.pipeline().remove(ZMTPCodec.class);
                    }
                }
                default -> {}
            }
            depth--;
        }

        private void write() {
            if (removed) {
                return; // what is written now is not the codec's
            }
            int number = promises.size();
            ChannelPromise promise = ctx.newPromise();
            promises.add(promise);
            promise.addListener(done -> {
                completions[number]++;
                act();
            });
            ctx.write(random.nextInt(20) == 0 ? "no message" : message(number), promise);
        }

        private void writeVoid() {
            if (!removed) {
                ctx.write(message(-1), ctx.voidPromise());
            }
        }

        private void feed() {
            int bytes = Math.min(input.readableBytes(), random.nextInt(random.nextBoolean() ? 20 : 6000));
            ctx.pipeline().fireChannelRead(ctx.alloc().buffer(bytes + 1).writeBytes(input, bytes));
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof ZMTPMessage message) {
                heard.add(number(message));
                behindTheEnd += closed || failed ? 1 : 0;
            }
            ReferenceCountUtil.release(msg);
            act();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            act();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            act();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            act();
        }

        private void letClose() {
            while (!closes.isEmpty()) {
                closes.remove(0).run();
            }
        }
    }

    @Test
    void everyWriteAndReadIsAccountedForWhateverHappens() {
        int removals = 0;
        int failures = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            User user = new User(seed);
            run(user, seed);
            removals += user.removed ? 1 : 0;
            failures += user.failed ? 1 : 0;
        }
        // That chance has come by everywhere.
        assertThat(removals).isGreaterThan(SEEDS / 20);
        assertThat(failures).isGreaterThan(SEEDS / 20);
    }

    private static void run(User user, long seed) {
        ByteBuf sent = Hex.buffer("");
        try (ScriptedPeer peer =
                InTraffic.as(PAIR).before(user.transport).after(user).start()) {
            user.started = true;
            int mark = 1 + user.random.nextInt(5000);
            peer.channel.config().setWriteBufferWaterMark(new WriteBufferWaterMark(mark, 2 * mark));
            for (int i = 0; i < 200; i++) {
                user.act();
                user.feed();
                if (user.random.nextInt(8) == 0) {
                    user.letClose();
                }
                peer.channel.runPendingTasks();
            }
            user.letClose();
            user.started = false; // what a callback of the last flush wrote would not leave whole
            peer.channel.flush();
            user.letClose();
            boolean open = peer.channel.isOpen();
            for (ByteBuf piece = peer.channel.readOutbound(); piece != null; piece = peer.channel.readOutbound()) {
                sent.writeBytes(piece);
                piece.release();
            }
            peer.channel.close();
            user.letClose();
            peer.channel.runPendingTasks();

            List<Integer> arrived = new ArrayList<>();
            for (ZMTPMessage message = ZMTPMessage.read(sent, ZMTPVersion.ZMTP31);
                    message != null;
                    message = ZMTPMessage.read(sent, ZMTPVersion.ZMTP31)) {
                if (User.number(message) >= 0) {
                    arrived.add(User.number(message));
                }
                message.release();
            }
            List<Integer> promised = new ArrayList<>();
            for (int i = 0; i < user.promises.size(); i++) {
                if (user.promises.get(i).isSuccess()) {
                    promised.add(i);
                }
            }
            assertThat(arrived).as("seed %d: arrived", seed).isEqualTo(promised);
            if (open) {
                assertThat(sent.readableBytes())
                        .as("seed %d: half a message on an open channel", seed)
                        .isZero();
                assertThat(user.failed).as("seed %d: open", seed).isFalse();
            }
            assertThat(Arrays.stream(user.completions).limit(user.promises.size()))
                    .as("seed %d: completions", seed)
                    .allMatch(times -> times == 1);
            assertThat(user.behindTheEnd).as("seed %d: behind the end", seed).isZero();
            assertThat(user.heard)
                    .as("seed %d: heard", seed)
                    .isEqualTo(IntStream.range(0, user.heard.size()).boxed().toList());
        } finally {
            sent.release();
            user.input.release();
        }
    }
}
