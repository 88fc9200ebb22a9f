package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.net.BindException;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server whose threads block. */
@Timeout(60)
class SharedMemoryServerSocketTest {

    @TempDir
    Path directory;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private SharedMemoryAddress address;
    private SharedMemoryServerSocket server;

    @BeforeEach
    void bind() throws IOException {
        address = new SharedMemoryAddress(directory.resolve("server"));
        server = SharedMemoryServerSocket.bind(address, 4096);
    }

    @AfterEach
    void end() throws IOException {
        server.close();
        threads.shutdownNow();
    }

    private Future<SharedMemorySocket> accepting() {
        return threads.submit(server::accept);
    }

    private SocketChannel stranger() throws IOException {
        return SocketChannel.open(UnixDomainSocketAddress.of(address.path()));
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(20, TimeUnit.SECONDS);
    }

    private static Throwable failure(Future<?> future) throws Exception {
        try {
            throw new AssertionError("result: " + get(future) + " (expected: a failure)");
        } catch (ExecutionException e) {
            return e.getCause();
        }
    }

    private void isServed() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        try (SharedMemorySocket client = SharedMemorySocket.connect(address, Duration.ofSeconds(20));
                SharedMemorySocket end = get(accepted)) {
            client.outputStream().write(new byte[] {1, 2, 3});
            client.outputStream().flush();
            assertThat(end.inputStream().readNBytes(3)).containsExactly(1, 2, 3);
            end.outputStream().write(4);
            end.outputStream().close();
            assertThat(client.inputStream().readAllBytes()).containsExactly(4);
        }
    }

    @Test
    void twoProgramsWithoutEventLoopsTalk() throws Exception {
        isServed();
        isServed();
    }

    @Test
    void aChannelIsServed() throws Exception {
        try (EventLoops loops = EventLoops.resting(1)) {
            Future<SharedMemorySocket> accepted = accepting();
            Channel client = new Bootstrap()
                    .group(loops.group())
                    .channel(SharedMemoryChannel.class)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(address)
                    .sync()
                    .channel();
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {5}));
            try (SharedMemorySocket end = get(accepted)) {
                assertThat(end.inputStream().read()).isEqualTo(5);
            }
        }
    }

    @Test
    void aClientThatSaysNothingKeepsNoOtherOneWaiting() throws Exception {
        try (SocketChannel silent = stranger()) {
            isServed();
            assertThat(silent.isConnected()).isTrue();
        }
    }

    @Test
    void aClientThatHasNotReadTheFileIsNotAccepted() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        try (SocketChannel liar = stranger()) {
            ByteBuffer answer = ByteBuffer.allocate(Invitation.ANSWER).put(0, (byte) Invitation.ACCEPTED);
            liar.write(answer);
            readToTheEnd(liar);
        }
        assertThat(accepted.isDone()).isFalse();
        SharedMemorySocket.connect(address).close();
        get(accepted).close();
    }

    @Test
    void aClientWhoseNameCannotBeRemovedIsAccepted() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        Intruder client = Intruder.at(Path.of(address.path()));
        client.replace();
        client.accept();
        get(accepted).close();
        client.leave();
        Files.delete(client.path().resolve("kept"));
        Files.delete(client.path());
    }

    @Test
    void moreThanMayMeetAtATimeAreServedInTheEnd() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        SocketChannel[] silent = new SocketChannel[BlockingMeetings.MOST];
        for (int i = 0; i < silent.length; i++) {
            silent[i] = stranger();
            silent[i].read(ByteBuffer.allocate(1)); // it is invited
        }
        Future<SharedMemorySocket> client = threads.submit(() -> SharedMemorySocket.connect(address));
        assertThat(accepted.isDone()).isFalse();

        for (SocketChannel each : silent) {
            each.close();
        }

        get(client).close();
        get(accepted).close();
    }

    @Test
    void aCloseEndsTheWaitOfAnotherThreadAndRemovesTheFile() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        try (SocketChannel invited = stranger()) {
            invited.read(ByteBuffer.allocate(1)); // so it waits
            server.close();
        }
        assertThat(failure(accepted)).isInstanceOf(ClosedChannelException.class);
        assertThat(Path.of(address.path())).doesNotExist();
        server.close();
        assertThat(failure(accepting())).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aCloseLeavesTheFileOfAnotherServer() throws Exception {
        Files.delete(Path.of(address.path()));
        try (SharedMemoryServerSocket another = SharedMemoryServerSocket.bind(address, 4096)) {
            server.close();

            Future<SharedMemorySocket> accepted = threads.submit(another::accept);
            SharedMemorySocket.connect(address).close();
            get(accepted).close();
        }
    }

    @Test
    void anInterruptEndsAWaitAndTheServer() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        try (SocketChannel invited = stranger()) {
            invited.read(ByteBuffer.allocate(1));
        }
        threads.shutdownNow();
        assertThat(failure(accepted)).isInstanceOf(ClosedByInterruptException.class);
        assertThat(Path.of(address.path())).doesNotExist();
    }

    @Test
    void aPathThatIsTakenIsNamed() {
        assertThatThrownBy(() -> SharedMemoryServerSocket.bind(address))
                .isInstanceOf(BindException.class)
                .hasMessageStartingWith(address.path());
    }

    @Test
    void aClientThatNobodyHasAcceptedIsEndedWithTheServer() throws Exception {
        Future<SharedMemorySocket> accepted = accepting();
        Future<SharedMemorySocket> one = threads.submit(() -> SharedMemorySocket.connect(address));
        Future<SharedMemorySocket> two = threads.submit(() -> SharedMemorySocket.connect(address));
        get(accepted).close();

        server.close();

        for (Future<SharedMemorySocket> client : List.of(one, two)) {
            assertThat(end(client)).isTrue();
        }
        assertThat(failure(accepting())).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aClientThatHasNotAnsweredIsEndedWithTheServer() throws Exception {
        Future<SharedMemorySocket> accepting = accepting();
        try (SocketChannel silent = stranger()) {
            assertThat(silent.read(ByteBuffer.allocate(1))).isEqualTo(1); // it is invited
            server.close();
            assertThat(failure(accepting)).isInstanceOf(ClosedChannelException.class);
            readToTheEnd(silent);
        }
    }

    private static void readToTheEnd(SocketChannel client) throws IOException {
        ByteBuffer rest = ByteBuffer.allocate(4096);
        while (client.read(rest) >= 0) {
            rest.clear(); // the invitation, and then the end
        }
    }

    @Test
    @SuppressWarnings("try") // the channel is closed first, which ends the thread that accepts
    void aClientThatDoesNotAnswerIsEndedAfterHalfAMinute() throws Exception {
        Path path = directory.resolve("patient");
        AtomicLong clock = new AtomicLong();
        LongSupplier later = () -> clock.addAndGet(TimeUnit.SECONDS.toNanos(30) + 1); // at each look
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                BlockingMeetings meetings = new BlockingMeetings(
                        channel.bind(UnixDomainSocketAddress.of(path)), SharedDirectory.standard(), 4096, later)) {
            Future<SharedMemorySocket> next = threads.submit(meetings::next);
            try (SocketChannel silent = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
                assertThat(silent.read(ByteBuffer.allocate(1))).isEqualTo(1);
                readToTheEnd(silent);
            }
            channel.close();
            meetings.wakeUp();
            assertThat(failure(next)).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    @SuppressWarnings("try") // as above
    void clientsThatDoNotAnswerMakeRoomForOthersAfterTwoSeconds() throws Exception {
        Path path = directory.resolve("crowded");
        AtomicLong clock = new AtomicLong();
        try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                BlockingMeetings meetings = new BlockingMeetings(
                        channel.bind(UnixDomainSocketAddress.of(path)), SharedDirectory.standard(), 4096, clock::get)) {
            Future<SharedMemorySocket> next = threads.submit(meetings::next);
            List<SocketChannel> silent = new ArrayList<>();
            for (int i = 0; i < BlockingMeetings.MOST; i++) {
                silent.add(SocketChannel.open(UnixDomainSocketAddress.of(path)));
                silent.get(i).read(ByteBuffer.allocate(1)); // it is invited
                clock.incrementAndGet();
            }
            Future<SharedMemorySocket> client =
                    threads.submit(() -> SharedMemorySocket.connect(new SharedMemoryAddress(path.toString())));

            clock.addAndGet(TimeUnit.SECONDS.toNanos(2)); // one makes room

            get(client).close();
            get(next).close();
            int ended = 0;
            for (SocketChannel each : silent) {
                each.configureBlocking(false);
                ended += isAtTheEnd(each) ? 1 : 0;
                each.close();
            }
            assertThat(ended).isEqualTo(1);
        }
    }

    private static boolean isAtTheEnd(SocketChannel client) throws IOException {
        ByteBuffer invitation = ByteBuffer.allocate(1 << 10);
        int read = client.read(invitation);
        return (read > 0 ? client.read(invitation) : read) < 0;
    }

    /** Whether a client was refused, or its input ends. */
    private static boolean end(Future<SharedMemorySocket> connecting) throws Exception {
        try (SharedMemorySocket client = get(connecting)) {
            return client.inputStream().read() < 0;
        } catch (ExecutionException e) {
            return e.getCause() instanceof IOException;
        }
    }

    @Test
    void anInterruptEndsTheWaitOfAThreadThatIsNotTheFirst() throws Exception {
        Future<SharedMemorySocket> first = accepting();
        try (SocketChannel invited = stranger()) {
            invited.read(ByteBuffer.allocate(1)); // by the first
        }
        Future<SharedMemorySocket> second = accepting();
        threads.shutdownNow();
        assertThat(failure(second)).isInstanceOf(ClosedByInterruptException.class);
        assertThat(failure(first)).isInstanceOf(ClosedChannelException.class);
    }
}
