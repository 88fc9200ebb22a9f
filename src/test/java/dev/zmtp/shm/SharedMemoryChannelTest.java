package dev.zmtp.shm;

import static dev.zmtp.shm.ChannelEnds.queuedTurns;
import static dev.zmtp.shm.ChannelEnds.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.Hex;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the transport itself does; that a codec runs on it is for {@code TransportContract}. */
class SharedMemoryChannelTest {

    private static final int CAPACITY = 4096;

    @TempDir
    Path directory;

    private final EventLoops loops = EventLoops.resting(2);

    /** The server's ends, once they are active. */
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

    /** What has arrived at the server, in hex, how each connection ended, and why. */
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    private Path path;
    private Channel server;

    @BeforeEach
    void bind() throws Exception {
        path = directory.resolve("server");
        server = new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childOption(SharedMemoryChannelOption.RING_CAPACITY, CAPACITY)
                .childHandler(each(Recorder::new))
                .bind(new SharedMemoryAddress(path))
                .sync()
                .channel();
    }

    @AfterEach
    void end() {
        loops.close();
    }

    private static ChannelInitializer<Channel> each(Supplier<ChannelHandler> handlers) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handlers.get());
            }
        };
    }

    private final class Recorder extends SimpleChannelInboundHandler<ByteBuf> {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf bytes) {
            events.add(ByteBufUtil.hexDump(bytes));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            events.add(cause.getMessage());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            events.add("inactive");
        }
    }

    private Bootstrap client() {
        return new Bootstrap()
                .group(loops.group())
                .channel(SharedMemoryChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
    }

    private ChannelFuture connect() {
        return client().connect(new SharedMemoryAddress(path));
    }

    private String event() throws InterruptedException {
        return events.poll(10, TimeUnit.SECONDS);
    }

    /** Returns when the other threads have come so far. */
    private Channel accepted() throws InterruptedException {
        return accepted.poll(10, TimeUnit.SECONDS);
    }

    // Connecting

    @Test
    void aChannelKnowsItsAddresses() throws Exception {
        Channel client = connect().sync().channel();
        assertThat(client.remoteAddress()).hasToString("shm:" + path);
        assertThat(server.localAddress()).hasToString("shm:" + path);
        assertThat(accepted().localAddress()).isEqualTo(server.localAddress());
        assertThat(client.isActive()).isTrue();
    }

    @Test
    void nobodyListens() {
        assertThatThrownBy(() -> client().connect(new SharedMemoryAddress(directory.resolve("nobody")))
                        .sync())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("nobody");
    }

    @Test
    void anAddressOfAnotherKindIsRefused() {
        assertThatThrownBy(() -> client().connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                        .sync())
                .isInstanceOf(UnsupportedAddressTypeException.class);
    }

    @Test
    void theServersSocketGoesWithTheServer() {
        assertThat(path).exists();
        server.close().syncUninterruptibly();
        assertThat(path).doesNotExist();
    }

    @Test
    void aServerRemovesTheFilesOfServersThatWereKilled() throws Exception {
        Path old = Files.createFile(
                directory.resolve(SharedDirectory.newName()),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(90)));
        SharedDirectory files = new SharedDirectory(directory, SharedDirectory::newName);
        new ServerBootstrap()
                .group(loops.group())
                .channelFactory(() -> new SharedMemoryServerChannel(
                        NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of, files))
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new SharedMemoryAddress(directory.resolve("next")))
                .sync();
        until(() -> !Files.exists(old));
    }

    @Test
    void aServerThatSaysNothingIsNotWaitedForForever() throws Exception {
        Path silent = directory.resolve("silent");
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(silent));
            assertThatThrownBy(() -> client().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 50)
                            .connect(new SharedMemoryAddress(silent))
                            .sync())
                    .hasMessage("shared memory: no meeting within 50 ms");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    'HTTP' 02 00001000 0001 2f         | invitation: 0x48545450 (expected: ZSHM)
                    'ZSHM' 01 00001000 0001 2f         | version: 1 (expected: 2)
                    'ZSHM' 02 00001000 ffff            | path length: 65535 (expected: <= 4096)
                    'ZSHM' 02 00001000 0001 2f         | file: / (expected: a name of netty-zmtp- and 32 hexadecimal digits)
                    'ZSHM' 02 00001000 0004 2f 'etc'   | file: /etc (expected: a name of netty-zmtp- and 32 hexadecimal digits)
                    'ZSHM' 02 00001001 002c 2f 'netty-zmtp-00000000000000000000000000000000' | capacity: 4097 (expected: a power of two, 4096 to 268435456)
                    'ZSHM' 02 00001000 002c 2f 'netty-zmtp-00000000000000000000000000000000' | /netty-zmtp-00000000000000000000000000000000 does not exist
                    'ZSHM' 02 00000000 0004 'full'     | the server has no file: full
                    """)
    void anInvitationThatIsNoneIsRefused(String invitation, String expected) throws Exception {
        Path odd = directory.resolve("odd");
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(odd));
            ChannelFuture connected = client().connect(new SharedMemoryAddress(odd));
            try (SocketChannel connection = socket.accept()) {
                connection.write(ByteBuffer.wrap(Hex.bytes(invitation.replace('\'', '"'))));
                assertThatThrownBy(connected::sync)
                        .isInstanceOf(IOException.class)
                        .hasMessage("shared memory: " + expected);
            }
        }
    }

    @Test
    void anAnswerThatIsNoneEndsTheConnection() throws Exception {
        Intruder intruder = Intruder.at(path);
        intruder.say(2);
        assertThat(intruder.socket().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        until(() -> !Files.exists(intruder.path()));
        assertThat(accepted).isEmpty();
        intruder.leave();
    }

    @Test
    void aClientThatLeavesWithoutAnAnswerLeavesNoFile() throws Exception {
        Intruder intruder = Intruder.at(path);
        assertThat(intruder.path()).exists();
        intruder.leave();
        until(() -> !Files.exists(intruder.path()));
        assertThat(accepted).isEmpty();
    }

    @Test
    void aClientThatSaysNothingIsNotWaitedForForever() throws Exception {
        Path impatient = directory.resolve("impatient");
        new ServerBootstrap()
                .group(loops.group())
                .channel(SharedMemoryServerChannel.class)
                .childOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 50)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new SharedMemoryAddress(impatient))
                .sync();
        Intruder intruder = Intruder.at(impatient);
        assertThat(intruder.socket().read(ByteBuffer.allocate(1))).isEqualTo(-1);
        until(() -> !Files.exists(intruder.path()));
        intruder.leave();
    }

    @Test
    void theFileHasNoNameAnyMoreWhenBothHaveIt() throws Exception {
        Intruder intruder = Intruder.at(path);
        intruder.accept();
        assertThat(accepted()).isNotNull();
        assertThat(intruder.path()).doesNotExist();
        intruder.leave();
    }

    // A peer that breaks the ring

    @ParameterizedTest
    @ValueSource(longs = {-1, CAPACITY + 1, Long.MIN_VALUE, Long.MAX_VALUE})
    void aPositionThatCannotBeEndsThisConnectionAlone(long position) throws Exception {
        Channel honest = connect().sync().channel();
        accepted();
        Intruder intruder = Intruder.at(path);
        intruder.accept();
        accepted();
        intruder.ring().publishTail(position);
        intruder.say(0);
        assertThat(event()).isEqualTo("shared memory: writer at " + position + " (expected: 0 to 4096)");
        assertThat(event()).isEqualTo("inactive");
        honest.writeAndFlush(Hex.buffer("01")).sync();
        assertThat(event()).isEqualTo("01");
        intruder.leave();
    }

    @Test
    void ringsWithoutAnythingNewHarmNobody() throws Exception {
        Intruder intruder = Intruder.at(path);
        intruder.accept();
        accepted();
        for (int i = 0; i < 1000; i++) {
            intruder.say(Doorbell.RING);
        }
        SharedMemoryWriter writer = new SharedMemoryWriter(intruder.ring());
        writer.write(ByteBuffer.wrap(new byte[] {7}));
        writer.flush();
        intruder.say(Doorbell.RING);
        assertThat(event()).isEqualTo("07");
        intruder.leave();
    }

    @Test
    void howeverOftenAPeerRingsOneTurnIsQueued() throws Exception {
        Channel client = client().option(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE)
                .connect(new SharedMemoryAddress(path))
                .sync()
                .channel();
        for (int i = 0; i < 100; i++) {
            client.eventLoop()
                    .submit(((SharedMemoryChannel) client).traffic()::woken)
                    .sync();
        }
        assertThat(queuedTurns(client)).isLessThanOrEqualTo(1);
    }

    // Reading

    @Test
    void nothingIsReadOnceAutoReadIsOff() throws Exception {
        Channel client = connect().sync().channel();
        Channel end = accepted();
        end.config().setAutoRead(false);
        end.eventLoop().submit(() -> {}).sync(); // which forgets the read that was asked for
        client.writeAndFlush(Hex.buffer("01")).sync();
        for (int i = 0; i < 100; i++) { // time enough to hear the bell and to have a turn
            end.eventLoop().submit(() -> {}).sync();
        }
        assertThat(events).isEmpty();
        end.read();
        assertThat(event()).isEqualTo("01");
    }

    @Test
    void anAllocatorThatFailsEndsThisConnectionAlone() throws Exception {
        Channel client = connect().sync().channel();
        Channel end = accepted();
        Channel honest = connect().sync().channel();
        accepted();
        end.config().setAllocator(mock(ByteBufAllocator.class, call -> {
            throw new OutOfMemoryError("no memory today");
        }));
        client.writeAndFlush(Hex.buffer("01")).sync();
        assertThat(event()).isEqualTo("no memory today");
        assertThat(event()).isEqualTo("inactive");
        honest.writeAndFlush(Hex.buffer("02")).sync();
        assertThat(event()).isEqualTo("02");
    }

    // The end

    @Test
    void aChannelThatLeavesItsEventLoopEnds() throws Exception {
        Channel client = connect().sync().channel();
        accepted();
        client.deregister().sync();
        assertThat(client.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(event()).isEqualTo("inactive");
    }

    @Test
    void handlersHearThatTheirChannelEndsWithItsEventLoop() throws Exception {
        connect().sync();
        Channel end = accepted();
        end.deregister().sync();
        end.eventLoop().submit(() -> {}).sync();
        assertThat(events).containsExactly("inactive");
    }

    @Test
    void handlersHearThatTheirServerEndsWithItsEventLoop() throws Exception {
        server.eventLoop()
                .submit(() -> server.pipeline().addLast(new Recorder()))
                .sync();
        server.deregister().sync();
        server.eventLoop().submit(() -> {}).sync();
        assertThat(events).containsExactly("inactive");
    }

    @Test
    void aServerThatLeavesItsEventLoopEnds() throws Exception {
        server.deregister().sync();
        assertThat(server.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(path).doesNotExist();
    }

    @Test
    void aServerEndsWithItsEventLoop() throws Exception {
        loops.group().shutdownGracefully(20, 10_000, TimeUnit.MILLISECONDS); // with 0, Netty may forget a channel
        assertThat(server.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(server.isOpen()).isFalse();
    }

    @Test
    void whatIsInTheRingIsDeliveredBeforeTheEnd() throws Exception {
        Channel end = endWithUnreadBytes();
        end.config().setAutoRead(true);
        assertThat(event()).isEqualTo("010203");
        assertThat(event()).isEqualTo("inactive");
    }

    @Test
    void aWriteWithoutRoomFailsWhenThePeerGoes() throws Exception {
        Intruder intruder = Intruder.at(path);
        intruder.accept();
        Channel end = accepted();
        ChannelFuture write = end.writeAndFlush(end.alloc().buffer().writeZero(2 * CAPACITY));
        intruder.leave();
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.cause()).isInstanceOf(IOException.class);
        assertThat(event()).isEqualTo("inactive");
    }

    @Test
    void aWriteToAPeerThatHasGoneDoesNotLoseWhatItWrote() throws Exception {
        Channel end = endWithUnreadBytes();
        ChannelFuture write = end.writeAndFlush(Hex.buffer("04"));
        end.eventLoop().submit(() -> {}).sync();
        end.config().setAutoRead(true);
        assertThat(event()).isEqualTo("010203");
        assertThat(event()).isEqualTo("inactive");
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.cause()).isInstanceOf(IOException.class);
    }

    /** Many programs cease to read until they can write. */
    @Test
    void aPeerThatHasGoneDoesNotKeepAChannelUnwritable() throws Exception {
        Channel end = endWithUnreadBytes();
        ChannelFuture write = end.writeAndFlush(end.alloc().buffer().writeZero(1 << 20));
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.cause()).hasMessage("shared memory: the other side is gone");
        until(end::isWritable);
        end.config().setAutoRead(true);
        assertThat(event()).isEqualTo("010203");
        assertThat(event()).isEqualTo("inactive");
    }

    /** It would be unwritable for ever, and nothing would tell it. */
    @Test
    void whoWritesOnToAPeerThatHasGoneAndNeverReadsIsEnded() throws Exception {
        Channel end = endWithUnreadBytes();
        writeOn(end);
        assertThat(end.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static void writeOn(Channel channel) {
        if (channel.isOpen()) {
            channel.writeAndFlush(channel.alloc().buffer().writeZero(1 << 20)).addListener(failed -> writeOn(channel));
        }
    }

    /** The end of a server with auto-read off, whose client has written 01 02 03 and gone. */
    private Channel endWithUnreadBytes() throws Exception {
        Intruder intruder = Intruder.at(path);
        intruder.accept();
        Channel end = accepted();
        end.config().setAutoRead(false);
        end.eventLoop().submit(() -> {}).sync();
        SharedMemoryWriter writer = new SharedMemoryWriter(intruder.ring());
        writer.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        writer.flush();
        intruder.leave();
        end.eventLoop()
                .submit(((SharedMemoryChannel) end).traffic()::otherSideGone)
                .sync();
        return end;
    }

    @Test
    void aChannelThatNeitherReadsNorWritesTakesNoTurn() throws Exception {
        Channel client = client().option(SharedMemoryChannelOption.SPIN_MICROS, Integer.MAX_VALUE)
                .connect(new SharedMemoryAddress(path))
                .sync()
                .channel();
        client.config().setAutoRead(false);
        until(() -> queuedTurns(client) == 0);
        client.eventLoop()
                .submit(((SharedMemoryChannel) client).traffic()::woken)
                .sync();
        until(() -> queuedTurns(client) == 0);
    }

    @Test
    void aBlockedWriterSleeps() throws Exception {
        Channel client = connect().sync().channel();
        Channel end = accepted();
        end.config().setAutoRead(false);
        end.eventLoop().submit(() -> {}).sync();
        ChannelFuture write = client.writeAndFlush(client.alloc().buffer().writeZero(2 * CAPACITY));
        until(() -> queuedTurns(client) == 0);
        assertThat(write.isDone()).isFalse();
    }

    @Test
    void whatWasWrittenArrivesIfTheListenerOfTheWriteCloses() throws Exception {
        Channel client = connect().sync().channel();
        accepted();
        client.writeAndFlush(Hex.buffer("01 02")).addListener(ChannelFutureListener.CLOSE);
        assertThat(event()).isEqualTo("0102");
        assertThat(event()).isEqualTo("inactive");
    }

    @Test
    void aWriteIsCompleteWhenTheOtherSideCanReadIt() throws Exception {
        Channel client = connect().sync().channel();
        assertThat(accepted.take().eventLoop()).isNotSameAs(client.eventLoop());
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]))
                .addListener(written -> Blocking.allow(() -> seen.add(String.valueOf(event()))));
        assertThat(seen.poll(20, TimeUnit.SECONDS)).isEqualTo("00");
    }

    @Test
    void aWriteIsCompleteWhenThereIsRoomForAll() throws Exception {
        Channel client = connect().sync().channel();
        Channel end = accepted();
        end.config().setAutoRead(false);
        end.eventLoop().submit(() -> {}).sync();
        ChannelFuture first = client.writeAndFlush(client.alloc().buffer().writeZero(CAPACITY));
        assertThat(first.await(10, TimeUnit.SECONDS)).isTrue();
        ChannelFuture second = client.writeAndFlush(Hex.buffer("01 02"));
        client.eventLoop().submit(() -> {}).sync();
        end.config().setAutoRead(true);
        assertThat(second.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(second.isSuccess()).isTrue();
    }

    @Test
    void twoThousandConnectionsLeaveNothing() throws Exception {
        connect().sync().channel().close().sync(); // loads the classes
        accepted();
        long descriptors = descriptors();
        int mappings = mappings(); // Netty 4.2.18 may leave channels open when an earlier test ends its loops
        for (int i = 0; i < 2000; i++) {
            Channel client = connect().sync().channel();
            Channel end = accepted();
            (i % 2 == 0 ? client : end).close();
            client.closeFuture().sync();
            end.closeFuture().sync();
        }
        until(() -> mappings() <= mappings && descriptors() < descriptors + 10);
    }

    private static int mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return (int) lines.filter(line -> line.contains("netty-zmtp-")).count();
        }
    }

    private static long descriptors() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    // Options

    @ParameterizedTest
    @ValueSource(ints = {0, 4095, 5000, Integer.MAX_VALUE})
    void theCapacityIsChecked(int capacity) {
        SharedMemoryChannel channel = new SharedMemoryChannel();
        assertThatThrownBy(() -> channel.config().setOption(SharedMemoryChannelOption.RING_CAPACITY, capacity))
                .hasMessageStartingWith("capacity: " + capacity + " (expected: a power of two");
        channel.unsafe().closeForcibly();
    }

    @Test
    void theSpinIsChecked() {
        SharedMemoryChannel channel = new SharedMemoryChannel();
        assertThatThrownBy(() -> channel.config().setOption(SharedMemoryChannelOption.SPIN_MICROS, -1))
                .hasMessage("SPIN_MICROS: -1 (expected: >= 0)");
        channel.unsafe().closeForcibly();
    }

    @Test
    void theOptionsHaveTheirDefaults() {
        SharedMemoryChannel channel = new SharedMemoryChannel();
        assertThat(channel.config().getOption(SharedMemoryChannelOption.RING_CAPACITY))
                .isEqualTo(256 << 10);
        assertThat(channel.config().getOption(SharedMemoryChannelOption.SPIN_MICROS))
                .isEqualTo(50);
        channel.unsafe().closeForcibly();
    }
}
