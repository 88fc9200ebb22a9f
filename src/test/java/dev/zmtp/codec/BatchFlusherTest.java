package dev.zmtp.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a {@link BatchFlusher} flushes, and that it never forgets to. */
class BatchFlusherTest {

    private static final int THREADS = 4;

    private final List<EventLoopGroup> groups = new ArrayList<>();
    private final AtomicInteger flushes = new AtomicInteger();

    @AfterEach
    void shutDown() {
        groups.forEach(
                group -> group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly());
    }

    // In the event loop

    @Test
    void flushesThatAreDueTogetherAreOne() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel);

        for (int i = 0; i < 10; i++) {
            flusher.flush();
        }
        assertThat(flushes).hasValue(0);

        channel.runPendingTasks();
        assertThat(flushes).hasValue(1);
    }

    @Test
    void afterAFlushTheNextOneIsDueAgain() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel);

        flusher.flush();
        channel.runPendingTasks();
        flusher.flush();
        channel.runPendingTasks();

        assertThat(flushes).hasValue(2);
    }

    @Test
    void asManyAsMayBePendingAreFlushedAtOnce() throws Exception {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel, 3);

        assertThat(flushesAfterEachOf(7, flusher, channel)).containsExactly(0, 0, 1, 1, 1, 2, 2);

        channel.eventLoop().submit(() -> {}).sync();
        assertThat(flushes).hasValue(3);
    }

    @Test
    void byDefault64MayBePending() throws Exception {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel);

        assertThat(flushesAfterEachOf(65, flusher, channel)).startsWith(0, 0).endsWith(0, 1, 1);
    }

    /** Calls the flusher in one task of the event loop, in which no other can run. */
    private List<Integer> flushesAfterEachOf(int times, BatchFlusher flusher, Channel channel) throws Exception {
        List<Integer> seen = new ArrayList<>();
        channel.eventLoop()
                .submit(() -> {
                    for (int i = 0; i < times; i++) {
                        flusher.flush();
                        seen.add(flushes.get());
                    }
                })
                .sync();
        return seen;
    }

    @Test
    void theCountOfPendingOnesStartsAnewWithEachFlush() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel, 3);

        flusher.flush();
        flusher.flush();
        channel.runPendingTasks();
        flusher.flush();
        flusher.flush();
        assertThat(flushes).hasValue(1);

        channel.runPendingTasks();
        assertThat(flushes).hasValue(2);
    }

    @Test
    void whatIsWrittenWhenAWriteCompletesIsFlushedToo() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel);
        channel.write("first").addListener(written -> {
            channel.write("second");
            flusher.flush();
        });

        flusher.flush();
        channel.runPendingTasks();

        assertThat(channel.outboundMessages()).containsExactly("first", "second");
    }

    @Test
    void whatIsWrittenDuringTheFlushOfAFullBatchIsFlushedToo() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel, 2);
        channel.write("first").addListener(written -> {
            channel.write("second");
            flusher.flush();
        });

        flusher.flush();
        flusher.flush();
        channel.runPendingTasks();

        assertThat(channel.outboundMessages()).containsExactly("first", "second");
    }

    // Event loops that take no task

    @Test
    void aFlushThatTheEventLoopRejectsIsMadeAtOnce() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.inside = true;
        loop.refusal = new RejectedExecutionException("full");

        flusher.flush();

        assertThat(flushes).hasValue(1);
    }

    @Test
    void aFlushOfAnotherThreadThatTheEventLoopRejectsIsRejected() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.refusal = new RejectedExecutionException("full");
        assertThatThrownBy(flusher::flush).isSameAs(loop.refusal);

        loop.refusal = null;
        flusher.flush();
        loop.run(loop.tasks);

        assertThat(flushes).hasValue(1);
    }

    /** Another thread's write can be queued behind the scheduled flush. */
    @Test
    void theSecondFlushComesLaterIfTheEventLoopRejectsIt() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        flusher.flush();
        flusher.flush();
        loop.refusal = new RejectedExecutionException("full");
        loop.run(loop.tasks);
        int before = flushes.get();

        loop.run(loop.timers);

        assertThat(flushes).hasValue(before + 1);
        loop.refusal = null;
        flusher.flush();
        assertThat(loop.tasks).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void flushesGoOnAfterOneForWhichThereWasNoMemory(boolean inside) {
        ScriptedLoop loop = new ScriptedLoop();
        loop.inside = inside;
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.refusal = new OutOfMemoryError("test");
        assertThatThrownBy(flusher::flush).isSameAs(loop.refusal);

        loop.refusal = null;
        flusher.flush();
        loop.run(loop.tasks);

        assertThat(flushes).hasValue(1);
    }

    /** Others must not rely on a flush that is being scheduled. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFlushIsMadeAlthoughThatOfAnotherThreadIsRejectedMeanwhile(boolean inside) {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.refusal = new RejectedExecutionException("full");
        loop.meanwhile = () -> {
            Throwable refusal = loop.refusal;
            loop.refusal = null;
            loop.inside = inside;
            flusher.flush();
            loop.inside = false;
            loop.refusal = refusal;
        };

        assertThatThrownBy(flusher::flush).isSameAs(loop.refusal);
        loop.run(loop.tasks);

        assertThat(flushes).hasValue(1);
    }

    @Test
    void aFlushAfterTheEndOfTheEventLoopDoesNothing() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.refusal = new RejectedExecutionException("ended");
        loop.ends = true;
        loop.meanwhile = () -> assertThatCode(flusher::flush).doesNotThrowAnyException();

        flusher.flush();

        assertThat(flushes).hasValue(0);
    }

    /** The event loop can be faster than the thread that has just scheduled it. */
    @Test
    void aFlushThatRunsAtOnceIsNotTheLast() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.runsAtOnce = true;

        flusher.flush();
        flusher.flush();

        assertThat(flushes).hasValue(2);
    }

    @Test
    void flushesGoOnAfterOneForWhichThereWasNoTimer() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        loop.inside = true;
        loop.refusal = new RejectedExecutionException("full");
        loop.timerRefusal = new OutOfMemoryError("test");
        assertThatThrownBy(flusher::flush).isSameAs(loop.timerRefusal);
        assertThat(flushes).hasValue(1);

        loop.refusal = null;
        loop.inside = false;
        flusher.flush();
        loop.run(loop.tasks);

        assertThat(flushes).hasValue(2);
    }

    @Test
    void aScheduledFlushIsMadeEvenIfThereIsNoMemoryForTheNext() {
        ScriptedLoop loop = new ScriptedLoop();
        BatchFlusher flusher = new BatchFlusher(on(loop));
        flusher.flush();
        flusher.flush();
        loop.refusal = new OutOfMemoryError("test");

        assertThatThrownBy(() -> loop.run(loop.tasks)).isSameAs(loop.refusal);

        assertThat(flushes).hasValue(1);
    }

    private EmbeddedChannel on(EventLoop loop) {
        AtomicBoolean isReady = new AtomicBoolean();
        EmbeddedChannel channel = new EmbeddedChannel(counter()) {
            @Override
            public EventLoop eventLoop() {
                return isReady.get() ? loop : super.eventLoop();
            }
        };
        isReady.set(true);
        return channel;
    }

    /** Runs its tasks when it is told to, or takes none. */
    private static final class ScriptedLoop extends DefaultEventLoop {
        private final List<Runnable> tasks = new ArrayList<>();
        private final List<Runnable> timers = new ArrayList<>();
        private boolean inside;
        private boolean runsAtOnce;
        private boolean ends;
        private Throwable refusal;
        private OutOfMemoryError timerRefusal;
        private Runnable meanwhile;

        private void run(List<Runnable> due) {
            List<Runnable> now = List.copyOf(due);
            due.clear();
            inside = true;
            now.forEach(Runnable::run);
            inside = false;
        }

        @Override
        public boolean inEventLoop() {
            return inside;
        }

        @Override
        public boolean isShuttingDown() {
            return ends;
        }

        @Override
        public void execute(Runnable task) {
            Runnable first = meanwhile;
            meanwhile = null;
            if (first != null) {
                first.run();
            }
            if (refusal instanceof Error error) {
                throw error;
            } else if (refusal instanceof RejectedExecutionException rejection) {
                throw rejection;
            }
            tasks.add(task);
            if (runsAtOnce) {
                run(tasks);
            }
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            if (timerRefusal != null) {
                throw timerRefusal;
            }
            timers.add(task);
            return null;
        }
    }

    private EmbeddedChannel embedded() {
        return new EmbeddedChannel(counter());
    }

    private ChannelOutboundHandlerAdapter counter() {
        return new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                flushes.incrementAndGet();
                ctx.flush();
            }
        };
    }

    // From other threads

    @Test
    void aWriteBehindTheScheduledFlushHasAFlushOfItsOwn() throws Exception {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel);
        CountDownLatch release = block(channel);

        ChannelFuture first = channel.write(oneByte());
        flusher.flush();
        ChannelFuture second = channel.write(oneByte());
        flusher.flush();
        release.countDown();

        assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(second.isSuccess()).isTrue();
    }

    @Test
    void manyFlushesFromOutsideAreTwoAtMost() throws Exception {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel);
        CountDownLatch release = block(channel);

        ChannelFuture last = channel.newSucceededFuture();
        for (int i = 0; i < 1000; i++) {
            last = channel.write(oneByte());
            flusher.flush();
        }
        release.countDown();

        assertThat(last.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(flushes).hasValueBetween(1, 2);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void everyWriteOfEveryThreadArrives(long seed) throws Exception {
        int writes = 5_000;
        AtomicInteger arrived = new AtomicInteger();
        Channel channel = connect(arrived, THREADS * writes);
        BatchFlusher flusher = new BatchFlusher(channel, 8);

        List<Future<Integer>> writers = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        for (int t = 0; t < THREADS; t++) {
            Random random = new Random(seed * THREADS + t);
            writers.add(threads.submit(() -> write(writes, random, channel, flusher)));
        }
        threads.shutdown();

        for (Future<Integer> writer : writers) {
            assertThat(writer.get(60, TimeUnit.SECONDS))
                    .as("seed %d: writes of a thread", seed)
                    .isEqualTo(writes);
        }
        assertThat(all.await(10, TimeUnit.SECONDS))
                .as("seed %d: %s arrived", seed, arrived)
                .isTrue();
    }

    /**
     * Writes from this thread, or now and then from the event loop, and waits at times until its write is made: when
     * all threads wait, a flush that was lost has no other to make up for it. Returns how many writes were made in
     * time.
     */
    private static int write(int writes, Random random, Channel channel, BatchFlusher flusher)
            throws InterruptedException {
        for (int i = 0; i < writes; i++) {
            ChannelPromise promise = channel.newPromise();
            Runnable write = () -> {
                channel.write(oneByte(), promise);
                flusher.flush();
            };
            if (random.nextInt(4) == 0) {
                channel.eventLoop().execute(write);
            } else {
                write.run();
            }
            if (random.nextInt(4) == 0 && !promise.await(5, TimeUnit.SECONDS)) {
                return i;
            }
        }
        return writes;
    }

    /** Counted down when the peer has all that it waits for. */
    private final CountDownLatch all = new CountDownLatch(1);

    /** A connection on loopback whose peer counts bytes. */
    private Channel connect(AtomicInteger arrived, int expected) {
        EventLoopGroup group = EventLoops.newGroup(2);
        groups.add(group);
        Channel server = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                int bytes = ((ByteBuf) msg).readableBytes();
                                ReferenceCountUtil.release(msg);
                                if (arrived.addAndGet(bytes) == expected) {
                                    all.countDown();
                                }
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .syncUninterruptibly()
                .channel();
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(counter())
                .connect(server.localAddress())
                .syncUninterruptibly()
                .channel();
    }

    private static ByteBuf oneByte() {
        return Unpooled.wrappedBuffer(new byte[1]);
    }

    /** Keeps the event loop of {@code channel} from running what comes, until the latch is counted down. */
    private static CountDownLatch block(Channel channel) throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        channel.eventLoop().execute(() -> {
            blocked.countDown();
            try {
                Blocking.allow(release::await);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        blocked.await();
        return release;
    }

    // At the edges

    @Test
    void aClosedChannelIsLeftAlone() throws Exception {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel);
        channel.close().sync();

        flusher.flush();
        channel.eventLoop().submit(flusher::flush).sync();
        ChannelFuture written = channel.write(oneByte());
        flusher.flush();

        assertThat(written.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(written.isSuccess()).isFalse();
    }

    @Test
    void anEventLoopThatHasEndedIsLeftAlone() {
        Channel channel = connect(new AtomicInteger(), 0);
        BatchFlusher flusher = new BatchFlusher(channel);
        shutDown();

        assertThatCode(() -> {
                    flusher.flush();
                    flusher.flush();
                })
                .doesNotThrowAnyException();
        assertThat(flushes).hasValue(0);
    }

    @Test
    void aChannelWithoutEventLoopCannotBeFlushed() {
        BatchFlusher flusher = new BatchFlusher(new NioSocketChannel());

        assertThatThrownBy(flusher::flush)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("channel not registered to an event loop");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void atLeastOneFlushMustBeAllowedToPend(int maxPending) {
        assertThatThrownBy(() -> new BatchFlusher(embedded(), maxPending))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxPending: " + maxPending + " (expected: >= 1)");
    }

    @Test
    void oneMayPendAtLeast() {
        EmbeddedChannel channel = embedded();
        BatchFlusher flusher = new BatchFlusher(channel, 1);

        flusher.flush();
        flusher.flush();

        assertThat(flushes).hasValue(2);
        channel.runPendingTasks();
        assertThat(flushes).hasValue(2);
    }
}
