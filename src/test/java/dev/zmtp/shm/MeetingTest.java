package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a server does before a client has its file. */
@Timeout(60)
class MeetingTest {

    @TempDir
    Path directory;

    private final EventLoops loops = EventLoops.resting(1);

    /** The server's ends, once they have a pipeline. */
    private final BlockingQueue<Channel> ends = new LinkedBlockingQueue<>();

    /** The server's ends, once they are active. */
    private final BlockingQueue<Channel> active = new LinkedBlockingQueue<>();

    /** The threads that have asked for a name, which the tests keep waiting for it. */
    private final BlockingQueue<String> creators = new LinkedBlockingQueue<>();

    private final CountDownLatch mayCreate = new CountDownLatch(1);

    private Path files;
    private SharedMemoryAddress address;

    @BeforeEach
    void bind() throws Exception {
        files = Files.createDirectory(directory.resolve("files"));
        address = bind("server", files);
    }

    @AfterEach
    void endLoops() throws Exception {
        mayCreate.countDown();
        loops.close();
        CompletableFuture.runAsync(() -> {}, FileThread.SHARED).get(10, TimeUnit.SECONDS);
    }

    private SharedMemoryAddress bind(String name, Path files) throws Exception {
        SharedMemoryAddress address = new SharedMemoryAddress(directory.resolve(name));
        SharedDirectory shared = new SharedDirectory(files, this::nextName);
        new ServerBootstrap()
                .group(loops.group())
                .channelFactory(() -> new SharedMemoryServerChannel(
                        NioServerDomainSocketChannel::new, UnixDomainSocketAddress::of, shared))
                .childOption(SharedMemoryChannelOption.RING_CAPACITY, 4096)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        ends.add(channel);
                        channel.pipeline().addLast(new Active());
                    }
                })
                .bind(address)
                .sync();
        return address;
    }

    private String nextName() {
        creators.add(Thread.currentThread().getName());
        try {
            mayCreate.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return SharedDirectory.newName();
    }

    private final class Active extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            active.add(ctx.channel());
        }
    }

    private SocketChannel connect() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(address.path()));
    }

    private Channel end() throws InterruptedException {
        return ends.poll(10, TimeUnit.SECONDS);
    }

    /** Returns when the thread of files and the event loop have done what was asked for before. */
    private void settle() throws Exception {
        loops.group().next().submit(() -> {}).sync();
        CompletableFuture.runAsync(() -> {}, FileThread.SHARED).get(10, TimeUnit.SECONDS);
        loops.group().next().submit(() -> {}).sync();
    }

    @Test
    void noEventLoopCreatesAFile() throws Exception {
        mayCreate.countDown();
        try (SocketChannel client = connect()) {
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(1);
            assertThat(creators.poll()).isEqualTo("zmtp-shm-files");
        }
    }

    @Test
    void aClientThatCannotReadTheFileIsNeverActive() throws Exception {
        mayCreate.countDown();
        Intruder intruder = Intruder.at(Path.of(address.path()));
        intruder.socket().write(ByteBuffer.allocate(Invitation.ANSWER).put(0, (byte) Invitation.ACCEPTED));
        intruder.awaitEnd();
        assertThat(end().closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
        settle();
        assertThat(active).isEmpty();
        assertThat(files).isEmptyDirectory();
        intruder.leave();
    }

    @Test
    void anAnswerMayComeInParts() throws Exception {
        mayCreate.countDown();
        Intruder intruder = Intruder.at(Path.of(address.path()));
        for (byte part : Invitation.answer(intruder.file())) {
            assertThat(active).isEmpty();
            intruder.say(part);
        }
        assertThat(active.poll(10, TimeUnit.SECONDS)).isNotNull();
        intruder.leave();
    }

    /** In a directory for all, another user can take the name that the client has removed. */
    @Test
    void aNameThatCannotBeRemovedAfterTheAnswerIsNoReasonToEndTheConnection() throws Exception {
        mayCreate.countDown();
        Intruder intruder = Intruder.at(Path.of(address.path()));
        intruder.replace();
        intruder.accept();
        assertThat(active.poll(10, TimeUnit.SECONDS)).isNotNull();
        intruder.leave();
    }

    @Test
    void aClientThatAnswersBeforeItIsInvitedIsNotKept() throws Exception {
        try (SocketChannel client = connect()) {
            client.write(ByteBuffer.allocate(1));
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @Test
    void aChannelThatItsHandlersCloseGetsNoFile() throws Exception {
        SharedMemoryServerChannel server = new SharedMemoryServerChannel(
                NioServerDomainSocketChannel::new,
                UnixDomainSocketAddress::of,
                new SharedDirectory(files, this::nextName));
        address = new SharedMemoryAddress(directory.resolve("limited"));
        new ServerBootstrap()
                .group(loops.group())
                .channelFactory(() -> server)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext ctx) {
                        ctx.close();
                    }
                })
                .bind(address)
                .sync();
        try (SocketChannel client = connect()) {
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
        settle();
        assertThat(creators).isEmpty();
    }

    @Test
    void aChannelThatIsClosedMeanwhileLeavesNoFile() throws Exception {
        try (SocketChannel client = connect()) {
            assertThat(creators.poll(10, TimeUnit.SECONDS)).isNotNull();
            end().close().sync();
            mayCreate.countDown();
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            settle();
            assertThat(files).isEmptyDirectory();
        }
    }

    @Test
    void anEventLoopThatEndsMeanwhileLeavesNoFile() throws Exception {
        try (SocketChannel client = connect()) {
            assertThat(creators.poll(10, TimeUnit.SECONDS)).isNotNull();
            loops.close();
            mayCreate.countDown();
            CompletableFuture.runAsync(() -> {}, FileThread.SHARED).get(10, TimeUnit.SECONDS);
            assertThat(client.isOpen()).isTrue();
            assertThat(files).isEmptyDirectory();
        }
    }

    @Test
    void clientAndOperatorHearWhyThereIsNoFile() throws Exception {
        mayCreate.countDown();
        Path nowhere = directory.resolve("nowhere");
        SharedMemoryAddress broken = bind("broken", nowhere);
        String why = "9344 bytes in " + nowhere + ": java.nio.file.NoSuchFileException: ";
        try (CapturedLog log = new CapturedLog(SharedMemoryServerChannel.class.getName())) {
            ChannelFuture connected = new Bootstrap()
                    .group(loops.group())
                    .channel(SharedMemoryChannel.class)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(broken);
            assertThatThrownBy(connected::sync)
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("shared memory: the server has no file: " + why);
            assertThatThrownBy(() -> SharedMemorySocket.connect(broken))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("shared memory: the server has no file: " + why);
            assertThat(log.lines)
                    .singleElement()
                    .asString()
                    .contains(broken + "] refused a client: java.io.IOException: shared memory: " + why);
        }
        assertThat(active).isEmpty();
    }
}
