package dev.zmtp.shm;

import static dev.zmtp.shm.ChannelEnds.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads that block, with an event loop at the other end. */
@Timeout(60)
class SharedMemorySocketTest {

    private static final int CAPACITY = 4096;

    @TempDir
    Path directory;

    private final EventLoops loops = EventLoops.resting(1);
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** The server's ends. */
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    private SharedMemoryAddress address;
    private SharedMemorySocket socket;

    @BeforeEach
    void connect() throws Exception {
        address = new SharedMemoryAddress(directory.resolve("server"));
        new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childOption(SharedMemoryChannelOption.RING_CAPACITY, CAPACITY)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                })
                .bind(address)
                .sync();
        socket = SharedMemorySocket.connect(address);
    }

    @AfterEach
    void end() throws IOException {
        socket.close();
        threads.shutdownNow();
        loops.close();
    }

    private final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }

    private Channel accepted() throws InterruptedException {
        return accepted.poll(10, TimeUnit.SECONDS);
    }

    private int readOne() throws IOException {
        return socket.inputStream().read();
    }

    /** Returns when {@code thread} has ceased to spin. */
    private static void awaitSleep(Thread thread) {
        while (thread.getState() == Thread.State.NEW || thread.getStackTrace().length == 0 || !sleeps(thread)) {
            Thread.onSpinWait();
        }
    }

    private static boolean sleeps(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getMethodName().equals("listen")) {
                return true;
            }
        }
        return false;
    }

    private Failure failure(Callable<?> blocking) {
        Failure failure = new Failure(blocking);
        failure.start();
        return failure;
    }

    /** Returns when the server's end does not read any more. */
    private static void readNoMore(Channel end) throws InterruptedException {
        end.config().setAutoRead(false);
        end.eventLoop().submit(() -> {}).sync();
    }

    private Failure writerOfMoreThanFits() {
        return failure(() -> {
            socket.outputStream().write(new byte[3 * CAPACITY]);
            return null;
        });
    }

    /** What a thread fails with. */
    private static final class Failure extends Thread {
        private final Callable<?> blocking;
        private final BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();

        Failure(Callable<?> blocking) {
            this.blocking = blocking;
        }

        @Override
        public void run() {
            try {
                Object result = blocking.call();
                causes.add(new AssertionError("result: " + result + " (expected: a failure)"));
            } catch (Exception e) {
                causes.add(e);
            }
        }

        Throwable cause() throws InterruptedException {
            return causes.poll(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void whatIsFlushedComesBack() throws IOException {
        OutputStream out = socket.outputStream();
        out.write(7);
        out.write(new byte[] {0, 8, 9, 0}, 1, 2);
        out.flush();
        assertThat(socket.inputStream().readNBytes(3)).containsExactly(7, 8, 9);
    }

    @Test
    void aByteIsNotSigned() throws IOException {
        socket.outputStream().write(0xff);
        socket.outputStream().flush();
        assertThat(readOne()).isEqualTo(0xff);
    }

    @Test
    void twoThreadsMoveMoreThanTheRingHolds() throws Exception {
        byte[] bytes = new byte[1 << 20];
        new Random(5).nextBytes(bytes);
        Future<?> writer = threads.submit(() -> {
            socket.outputStream().write(bytes);
            socket.outputStream().flush();
            return null;
        });
        assertThat(socket.inputStream().readNBytes(bytes.length)).isEqualTo(bytes);
        writer.get();
    }

    /** Both sides would sleep for ever if a read that takes all did not wake the writer. */
    @Test
    void aReadThatTakesTheWholeRingWakesTheWriter() throws Exception {
        Channel end = accepted();
        end.writeAndFlush(end.alloc().buffer().writeZero(5 * CAPACITY));
        byte[] ring = new byte[CAPACITY];
        for (int left = 5 * CAPACITY; left > 0; ) {
            until(() -> socket.inputStream().available() == CAPACITY); // so that the writer has no room
            left -= socket.inputStream().read(ring);
        }
    }

    @Test
    void aThreadThatWaitsIsWoken() throws Exception {
        Future<Integer> read = threads.submit(this::readOne);
        TimeUnit.MILLISECONDS.sleep(20); // longer than it spins
        accepted().writeAndFlush(Unpooled.wrappedBuffer(new byte[] {3}));
        assertThat(read.get(10, TimeUnit.SECONDS)).isEqualTo(3);
    }

    @Test
    void theInputEndsAfterWhatIsInTheRing() throws Exception {
        accepted()
                .writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1, 2}))
                .addListener(ChannelFutureListener.CLOSE)
                .sync();
        assertThat(socket.inputStream().readAllBytes()).containsExactly(1, 2);
        assertThat(readOne()).isEqualTo(-1);
    }

    @Test
    void aWriteWithoutRoomFailsWhenTheOtherSideCloses() throws Exception {
        Channel end = accepted();
        readNoMore(end);
        Failure writer = writerOfMoreThanFits();
        awaitSleep(writer);
        end.close();
        assertThat(writer.cause()).isInstanceOf(IOException.class).hasMessageContaining("the other side is gone");
    }

    @Test
    void anInterruptEndsAWaitAndTheConnection() throws Exception {
        Failure reader = failure(this::readOne);
        awaitSleep(reader);
        reader.interrupt();
        assertThat(reader.cause()).isInstanceOf(ClosedByInterruptException.class);
        assertThat(accepted().closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anInterruptEndsTheWaitOfTheThreadThatDoesNotListen() throws Exception {
        Channel end = accepted();
        end.pipeline().removeLast(); // there is no echo that would end the wait of the reader
        readNoMore(end);
        Failure reader = failure(this::readOne);
        awaitSleep(reader);
        Failure writer = writerOfMoreThanFits();
        while (writer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        writer.interrupt();
        assertThat(writer.cause()).isInstanceOf(ClosedByInterruptException.class);
        assertThat(reader.cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aCloseEndsTheWaitOfAnotherThread() throws Exception {
        Failure reader = failure(this::readOne);
        awaitSleep(reader);
        socket.close();
        assertThat(reader.cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void nothingIsReadOrWrittenAfterAClose() throws IOException {
        socket.close();
        assertThatThrownBy(this::readOne).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.outputStream().write(1)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void closingTheOutputEndsAWriterThatWaits() throws Exception {
        Channel end = accepted();
        readNoMore(end);
        Failure writer = writerOfMoreThanFits();
        awaitSleep(writer);
        threads.submit(() -> {
                    socket.outputStream().close();
                    return null;
                })
                .get(10, TimeUnit.SECONDS);
        assertThat(writer.cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void closingTheOutputFlushes() throws Exception {
        Channel end = accepted();
        BlockingQueue<Byte> arrived = new LinkedBlockingQueue<>();
        end.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                arrived.add(((io.netty.buffer.ByteBuf) msg).getByte(0));
                ctx.fireChannelRead(msg);
            }
        });
        end.eventLoop().submit(() -> {}).sync(); // only now the handler is there
        socket.outputStream().write(4);
        socket.outputStream().close();
        assertThat(arrived.poll(10, TimeUnit.SECONDS)).isEqualTo((byte) 4);
    }

    @Test
    void aServerThatLeavesTheMeetingIsReported() throws Exception {
        Path other = directory.resolve("other");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(other));
            Future<?> connecting = threads.submit(() -> SharedMemorySocket.connect(new SharedMemoryAddress(other)));
            try (SocketChannel connection = server.accept()) {
                connection.write(ByteBuffer.wrap(new byte[] {'Z', 'S'}));
            }
            assertThatThrownBy(connecting::get)
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .hasMessage("shared memory: the other side ended the meeting (expected: an invitation)");
        }
    }

    @Test
    void aServerThatSaysNothingIsWaitedForNoLongerThanTheTimeout() throws Exception {
        Path other = directory.resolve("other");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(other));
            assertThatThrownBy(() -> SharedMemorySocket.connect(new SharedMemoryAddress(other), Duration.ofMillis(50)))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("shared memory: nothing from the other side within 50 ms");
        }
    }

    @Test
    void aReadThatTimesOutLeavesTheConnectionAsItIs() throws Exception {
        socket.readTimeout(Duration.ofMillis(20));
        assertThatThrownBy(this::readOne).isInstanceOf(SocketTimeoutException.class);
        socket.outputStream().write(6);
        socket.outputStream().flush();
        socket.readTimeout(Duration.ZERO);
        assertThat(readOne()).isEqualTo(6);
    }

    @Test
    void theTimeoutOfAReadEndsTheWaitOfTheThreadThatDoesNotListen() throws Exception {
        Channel end = accepted();
        readNoMore(end);
        Failure writer = writerOfMoreThanFits();
        awaitSleep(writer);
        socket.readTimeout(Duration.ofMillis(20));
        assertThatThrownBy(this::readOne).isInstanceOf(SocketTimeoutException.class);
        socket.close();
        assertThat(writer.cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aTimeoutIsNotNegative() {
        assertThatThrownBy(() -> socket.readTimeout(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("timeout: PT-0.000000001S (expected: >= 0, 0 for none)");
    }

    @Test
    void socketsThatAreClosedKeepNoMemory() throws Exception {
        accepted();
        long before = mappings();
        for (int i = 0; i < 20; i++) {
            SharedMemorySocket.connect(address).close();
            accepted().closeFuture().sync();
        }
        assertThat(mappings()).isEqualTo(before);
    }

    @Test
    void aSocketThatIsClosedKeepsItsMemoryUntilTheThreadInItHasLeft() throws Exception {
        Failure reader = failure(this::readOne);
        awaitSleep(reader);
        socket.close();
        reader.join();
        accepted().closeFuture().sync();
        assertThat(mappings()).isZero();
    }

    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("netty-zmtp-")).count();
        }
    }
}
