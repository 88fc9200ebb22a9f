package dev.zmtp.shm;

import static dev.zmtp.shm.ChannelEnds.next;
import static dev.zmtp.shm.ChannelEnds.queuedTurns;
import static dev.zmtp.shm.ChannelEnds.settle;
import static dev.zmtp.shm.ChannelEnds.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.DuplexChannel;
import java.io.IOException;
import java.io.OutputStream;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One half of a connection ends, and the other one goes on, as with a socket. */
@Timeout(60)
class HalfCloseTest {

    @TempDir
    Path directory;

    private ChannelEnds ends;

    @BeforeEach
    void bind() throws Exception {
        ends = new ChannelEnds(directory);
    }

    @AfterEach
    void end() {
        ends.close();
    }

    private void bind(boolean allowsHalfClosure) throws InterruptedException {
        ends.server()
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, allowsHalfClosure)
                .bind(ends.address)
                .sync();
    }

    private static void readNoMore(Channel channel) throws InterruptedException {
        channel.config().setAutoRead(false);
        settle(channel);
    }

    @Test
    void whoHasShutDownItsOutputGetsTheAnswer() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        client.writeAndFlush(Hex.buffer("01 02")).sync();
        client.shutdownOutput().sync();
        assertThat(next(ends.atServer)).isEqualTo("0102");
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownReadComplete");
        SharedMemoryChannel end = ends.accepted();
        end.writeAndFlush(Hex.buffer("03")).addListener(written -> end.close());
        assertThat(next(ends.atClient)).isEqualTo("ChannelOutputShutdownEvent");
        assertThat(next(ends.atClient)).isEqualTo("03");
        assertThat(next(ends.atClient)).isEqualTo("inactive");
    }

    @Test
    void whoDoesNotAllowHalfClosureIsClosedAfterTheLastByte() throws Exception {
        bind(false);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        readNoMore(end);
        client.writeAndFlush(Hex.buffer("01")).sync();
        client.shutdownOutput().sync();
        end.config().setAutoRead(true);
        assertThat(next(ends.atServer)).isEqualTo("01");
        assertThat(next(ends.atServer)).isEqualTo("inactive");
        assertThat(next(ends.atClient)).isEqualTo("ChannelOutputShutdownEvent");
        assertThat(next(ends.atClient)).isEqualTo("inactive");
    }

    @Test
    void theEndOfTheInputIsFoundByARead() throws Exception {
        bind(false);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        readNoMore(end);
        client.shutdownOutput().sync();
        end.eventLoop().submit(() -> end.traffic().otherOutputShutdown()).sync(); // it may have heard that by itself
        end.eventLoop().submit(() -> end.traffic().woken()).sync();
        assertThat(end.isActive()).isTrue();
        end.read();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    @Test
    void eachHalfSaysWhetherItIsShutDown() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        assertThat(halves(client)).isEqualTo("input true, output true");
        client.shutdownOutput().sync();
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
        assertThat(halves(client)).isEqualTo("input true, output false");
        assertThat(halves(end)).isEqualTo("input false, output true");
        assertThat(end.isShutdown()).isFalse();
        client.shutdownInput().sync();
        assertThat(halves(client)).isEqualTo("input false, output false");
        assertThat(client.isShutdown()).isTrue();
        assertThat(client.isActive()).isTrue();
        client.close().sync();
        assertThat(client.isShutdown()).isTrue();
    }

    private static String halves(DuplexChannel channel) {
        return "input " + !channel.isInputShutdown() + ", output " + !channel.isOutputShutdown();
    }

    @Test
    void bothHalvesCanBeShutDownAtOnce() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        assertThat(client.shutdown().await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(client.isShutdown()).isTrue();
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
    }

    @Test
    void whatHasNoRoomYetFailsWithTheOutput() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        readNoMore(ends.accepted());
        ChannelFuture write = client.writeAndFlush(client.alloc().buffer().writeZero(5000));
        client.shutdownOutput().sync();
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.cause()).isInstanceOf(ChannelOutputShutdownException.class);
        ChannelFuture later = client.writeAndFlush(Hex.buffer("01")).await();
        assertThat(later.cause()).isInstanceOf(ClosedChannelException.class);
        assertThat(client.isActive()).isTrue();
    }

    @Test
    void anOutputThatWaitedForRoomWaitsNoMoreWhenItIsShutDown() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        readNoMore(end);
        client.writeAndFlush(client.alloc().buffer().writeZero(5000));
        client.shutdownOutput().sync();
        end.config().setAutoRead(true);
        until(() -> "ChannelInputShutdownReadComplete".equals(next(ends.atServer)));
        until(() -> queuedTurns(client) == 0);
    }

    @Test
    void whatArrivesAfterTheInputWasShutDownIsDroppedAndBlocksNoWriter() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        end.shutdownInput().sync();
        ChannelFuture write = client.writeAndFlush(client.alloc().buffer().writeZero(100_000));
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.isSuccess()).isTrue();
        end.writeAndFlush(Hex.buffer("01")).sync();
        assertThat(next(ends.atClient)).isEqualTo("01");
        client.close();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    @Test
    void whatHasNotBeenReadWhenTheInputIsShutDownIsDropped() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        SharedMemoryChannel end = ends.accepted();
        readNoMore(end);
        ChannelFuture write = client.writeAndFlush(client.alloc().buffer().writeZero(5000));
        end.shutdownInput().sync();
        assertThat(write.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(write.isSuccess()).isTrue();
    }

    @Test
    void onlyWhatIsConnectedCanBeShutDown() throws Exception {
        bind(true);
        SharedMemoryChannel client =
                (SharedMemoryChannel) ends.client().register().sync().channel();
        assertThat(client.shutdownInput().await().cause()).isInstanceOf(NotYetConnectedException.class);
        client.close().sync();
        assertThat(client.shutdownInput().await().cause()).isInstanceOf(ClosedChannelException.class);
        assertThat(client.shutdown().await().cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aPeerThatGoesAfterItsOutputWasShutDownEndsTheChannel() throws Exception {
        bind(true);
        SharedMemoryChannel client = ends.connect();
        client.shutdownOutput().sync();
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownReadComplete");
        client.close();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    @Test
    void whatIsWrittenAfterTheEndOfTheOutputIsDropped() throws Exception {
        bind(true);
        Intruder intruder = Intruder.at(Path.of(ends.address.path()));
        intruder.accept();
        SharedMemoryWriter writer = new SharedMemoryWriter(intruder.ring());
        for (int i = 1; i < 3; i++) {
            writer.write(ByteBuffer.wrap(new byte[] {(byte) i}));
            writer.flush();
            intruder.say(Doorbell.LAST_RING);
            if (i == 1) {
                assertThat(next(ends.atServer)).isEqualTo("01");
                assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
                assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownReadComplete");
            }
        }
        intruder.leave();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    @Test
    void theLastRingIsHeardBehindOthers() throws Exception {
        bind(true);
        Intruder intruder = Intruder.at(Path.of(ends.address.path()));
        intruder.accept();
        ends.accepted();
        intruder.say(Doorbell.RING, Doorbell.RING, Doorbell.LAST_RING);
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownEvent");
        assertThat(next(ends.atServer)).isEqualTo("ChannelInputShutdownReadComplete");
        intruder.leave();
        assertThat(next(ends.atServer)).isEqualTo("inactive");
    }

    // Threads that block

    @Test
    void twoThreadsThatBlockAskAndAnswerByTheEndOfTheInput() throws Exception {
        try (SharedMemoryServerSocket server = SharedMemoryServerSocket.bind(ends.address, 4096)) {
            FutureTask<byte[]> asking = new FutureTask<>(() -> {
                try (SharedMemorySocket client = SharedMemorySocket.connect(ends.address)) {
                    client.outputStream().write(new byte[] {1, 2});
                    client.shutdownOutput();
                    return client.inputStream().readAllBytes();
                }
            });
            new Thread(asking).start();
            try (SharedMemorySocket end = server.accept()) {
                assertThat(end.inputStream().readAllBytes()).containsExactly(1, 2);
                end.outputStream().write(3);
                end.shutdownOutput();
                assertThat(asking.get(10, TimeUnit.SECONDS)).containsExactly(3);
            }
        }
    }

    @Test
    void aThreadThatWaitsHearsThatNothingFollows() throws Exception {
        bind(true);
        try (SharedMemorySocket client = SharedMemorySocket.connect(ends.address)) {
            SharedMemoryChannel end = ends.accepted();
            end.writeAndFlush(Hex.buffer("01")).sync();
            assertThat(client.inputStream().read()).isEqualTo(1);
            end.eventLoop().execute(end::shutdownOutput);
            assertThat(client.inputStream().read()).isEqualTo(-1);
            client.outputStream().write(2);
            client.outputStream().flush();
            assertThat(next(ends.atServer)).isEqualTo("ChannelOutputShutdownEvent");
            assertThat(next(ends.atServer)).isEqualTo("02");
        }
    }

    @Test
    void aStreamThatIsShutDownTakesNothingAndLeavesTheInputOpen() throws Exception {
        bind(true);
        try (SharedMemorySocket client = SharedMemorySocket.connect(ends.address)) {
            OutputStream output = client.outputStream();
            client.shutdownOutput();
            assertThatThrownBy(() -> output.write(1))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("shared memory: the output is shut down");
            assertThatThrownBy(client::shutdownOutput).isInstanceOf(SocketException.class);
            output.flush();
            ends.accepted().writeAndFlush(Hex.buffer("05")).sync();
            assertThat(client.inputStream().read()).isEqualTo(5);
        }
    }

    /** It may have ended for the very reason that it had answered. */
    @Test
    void theAnswerOfASideThatHasGoneIsReadAfterTheOutputIsShutDown() throws Exception {
        bind(true);
        try (SharedMemorySocket client = SharedMemorySocket.connect(ends.address)) {
            SharedMemoryChannel end = ends.accepted();
            end.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object request) {
                    ((ByteBuf) request).release();
                    ctx.writeAndFlush(Hex.buffer("05")).addListener(ChannelFutureListener.CLOSE); // before it sleeps
                }
            });
            settle(end); // only now the handler is there
            client.outputStream().write(1);
            client.outputStream().flush();
            assertThat(end.closeFuture().await(10, TimeUnit.SECONDS)).isTrue();
            client.shutdownOutput();
            assertThat(client.inputStream().readAllBytes()).containsExactly(5);
        }
    }

    @Test
    void aSideThatHearsNoRingsIsNotWaitedFor() throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(ends.address.path());
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            try (BlockingBell bell = new BlockingBell(SocketChannel.open(address));
                    SocketChannel deaf = server.accept()) {
                for (int i = 0; i < 100_000; i++) {
                    bell.ring(); // more often than there is room for
                }
                assertThatThrownBy(bell::ringLast)
                        .isInstanceOf(IOException.class)
                        .hasMessage("shared memory: the other side has not heard the rings before the last one");
                assertThat(deaf.isOpen()).isTrue();
            }
        }
    }
}
