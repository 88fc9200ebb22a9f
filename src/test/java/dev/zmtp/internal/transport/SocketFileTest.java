package dev.zmtp.internal.transport;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.unix.DomainSocketAddress;
import java.io.IOException;
import java.net.BindException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** T59 and T60: the files of {@code ipc://} and {@code shm://}. What is not ours stays. */
@Tag("T59")
@Tag("T60")
class SocketFileTest {

    @TempDir
    Path dir;

    @ParameterizedTest
    @ValueSource(strings = {"ipc", "shm"})
    void aSecondBindIsRefusedAndTheFirstGoesOn(String scheme, TestSockets sockets) {
        String endpoint = scheme + "://" + dir.resolve("here");
        ZMTPSocket first = sockets.open(PULL);
        assertThat(bind(first, endpoint)).isEqualTo(endpoint);

        Throwable refused = failure(sockets.open(PULL).bind(endpoint).readyFuture());

        assertThat(refused)
                .hasCauseInstanceOf(BindException.class)
                .hasMessageEndingWith(dir.resolve("here") + ": the socket is in use");
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(endpoint);
        get(push.sendAsync(message("m")));
        assertThat(receive(first)).containsExactly("m");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ipc", "shm"})
    void aFileThatNobodyListensAtIsReplaced(String scheme, TestSockets sockets) throws IOException {
        Path file = stale();
        bind(sockets.open(PULL), scheme + "://" + file);
    }

    private Path stale() throws IOException {
        Path file = dir.resolve("stale");
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(file));
        }
        Files.setLastModifiedTime(file, FileTime.from(Instant.EPOCH)); // long ago
        return file;
    }

    /** Two processes that bind there at the same time find it at the same time. */
    @Test
    void aSocketThatAnotherProcessHasBoundInTheMeantimeStays(TestSockets sockets) throws IOException {
        Path file = stale();
        StaleSocket ofTheOther = Objects.requireNonNull(StaleSocket.at(file));
        StaleSocket ours = Objects.requireNonNull(StaleSocket.at(file));
        ofTheOther.remove();
        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, "ipc://" + file);

        assertThatExceptionOfType(BindException.class)
                .isThrownBy(ours::remove)
                .withMessage(file + ": the socket is in use");

        assertThat(dir).isDirectoryContaining(file::equals);
        TestSockets.connect(sockets.open(PUSH), "ipc://" + file);
    }

    @Test
    void aSocketThatAnotherProcessHasRemovedInTheMeantimeIsRemoved() throws IOException {
        Path file = stale();
        StaleSocket ours = Objects.requireNonNull(StaleSocket.at(file));
        Objects.requireNonNull(StaleSocket.at(file)).remove();

        ours.remove();

        assertThat(dir).isEmptyDirectory();
    }

    @Test
    void aFileOfAnotherKindIsNotTouched(TestSockets sockets) throws IOException {
        Path file = Files.writeString(dir.resolve("letter"), "dear");
        Path folder = Files.createDirectory(dir.resolve("folder"));
        Path link = Files.createSymbolicLink(dir.resolve("link"), dir.resolve("nowhere"));
        ZMTPSocket pull = sockets.open(PULL);

        for (Path path : List.of(file, folder, link)) {
            assertThat(failure(pull.bind("ipc://" + path).readyFuture()))
                    .hasCauseInstanceOf(BindException.class)
                    .hasMessageEndingWith(path + ": not a socket (expected: no file, or the file of a socket)");
        }

        assertThat(file).hasContent("dear");
        assertThat(folder).isDirectory();
        assertThat(Files.isSymbolicLink(link)).isTrue();
    }

    @Test
    void aPipeIsNotTouched(TestSockets sockets) throws Exception {
        Path pipe = dir.resolve("pipe");
        Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assertThat(made.waitFor()).isZero();

        Throwable refused = failure(sockets.open(PULL).bind("ipc://" + pipe).readyFuture());

        assertThat(refused)
                .hasCauseInstanceOf(BindException.class)
                .hasMessageEndingWith(pipe + ": not a socket (expected: no file, or the file of a socket)");
        assertThat(pipe).exists();
    }

    /** As when an operator removes the file, and starts the new server before the old one ends. */
    @ParameterizedTest
    @CsvSource({"ipc, false", "shm, false", "ipc, true", "shm, true"})
    @SuppressWarnings("deprecation") // the successor of the group is in Netty 4.2 only
    void theFileOfASuccessorStays(String scheme, boolean epoll) throws IOException {
        assumeTrue(!epoll || Epoll.isAvailable());
        Path file = dir.resolve("succeeded");
        String endpoint = scheme + "://" + file;
        EventLoops loops = epoll ? new EventLoops(new EpollEventLoopGroup(1)) : new EventLoops(1);
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket old = sockets.open(pull(sockets, epoll));
            bind(old, endpoint);
            Files.delete(file);
            bind(sockets.open(pull(sockets, epoll)), endpoint);
            Object key = key(file);

            get(old.closeAsync(Duration.ZERO));

            assertThat(key(file)).isEqualTo(key);
        }
        assertThat(dir).isEmptyDirectory();
    }

    private static Object key(Path file) throws IOException {
        return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    }

    private static ZMTPSocketConfig.Builder pull(TestSockets sockets, boolean epoll) {
        ZMTPSocketConfig.Builder pull = sockets.builder(PULL);
        return epoll
                ? pull.ipcChannels(
                        EpollDomainSocketChannel::new, EpollServerDomainSocketChannel::new, DomainSocketAddress::new)
                : pull;
    }

    @Test
    void theFileGoesWithTheEventLoop() {
        Path file = dir.resolve("loop");
        EventLoops loops = new EventLoops(1);
        bind(ZMTPSocket.of(ZMTPSocketConfig.builder(PULL).group(loops.group()).build()), "ipc://" + file);
        loops.close();
        TestSockets.await("no file", () -> !Files.exists(file));
    }

    /** A connect would wait for a place in its queue. */
    @Test
    void aSocketWhoseQueueIsFullIsInUse() throws IOException {
        Path file = dir.resolve("full");
        List<java.nio.channels.SocketChannel> waiting = new ArrayList<>();
        try (ServerSocketChannel busy = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                TestSockets sockets = new TestSockets()) {
            busy.bind(UnixDomainSocketAddress.of(file), 1);
            for (int i = 0; i < 4; i++) {
                var channel = java.nio.channels.SocketChannel.open(StandardProtocolFamily.UNIX);
                channel.configureBlocking(false);
                waiting.add(channel);
                try {
                    channel.connect(UnixDomainSocketAddress.of(file));
                } catch (IOException e) {
                    break; // it is full
                }
            }

            assertThat(failure(sockets.open(PULL).bind("ipc://" + file).readyFuture()))
                    .hasMessageEndingWith(file + ": the socket is in use");

            assertThat(file).exists();
        } finally {
            for (var channel : waiting) {
                channel.close();
            }
        }
    }

    @Test
    void ourOwnFileIsRemovedAfterUse(TestSockets sockets) throws IOException {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint binding = get(pull.bind("ipc://" + dir.resolve("own")).readyFuture());
        assertThat(dir.resolve("own")).exists();

        TestSockets.unbind(binding);

        assertThat(dir.resolve("own")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "*.ipc"})
    void aStarIsANewFileInADirectoryOfItsOwn(String star) {
        Path file;
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(PULL);
            String endpoint = bind(pull, "ipc://" + star);
            file = Path.of(endpoint.substring("ipc://".length()));
            assertThat(file).isAbsolute().exists();
            ZMTPSocket push = sockets.open(PUSH);
            push.connect(endpoint);
            get(push.sendAsync(message("m")));
            assertThat(receive(pull)).containsExactly("m");
            get(pull.closeAsync(Duration.ZERO));
        }
        assertThat(file.getParent()).doesNotExist();
    }

    @Test
    void aBindThatFailsLeavesNoDirectory() throws IOException {
        Path temp = Path.of(System.getProperty("java.io.tmpdir"));
        List<Path> before = zmtpDirectories(temp);
        try (TestSockets sockets = new TestSockets()) {
            ZMTPSocket pull = sockets.open(sockets.builder(PULL)
                    .ipcChannels(
                            io.netty.channel.socket.nio.NioDomainSocketChannel::new,
                            () -> {
                                throw new IllegalStateException("of the test");
                            },
                            UnixDomainSocketAddress::of));

            failure(pull.bind("ipc://*").readyFuture());
        }
        assertThat(zmtpDirectories(temp)).isSubsetOf(before);
    }

    private static List<Path> zmtpDirectories(Path temp) throws IOException {
        try (Stream<Path> all = Files.list(temp)) {
            return all.filter(path -> path.getFileName().toString().startsWith("zmtp"))
                    .toList();
        }
    }

    @Test
    void aPathHasAtMost107Bytes() {
        String longest = "/" + "x".repeat(106);
        assertThat(file(longest)).hasToString(longest);

        for (String tooLong : List.of(longest + "x", "/" + "\u00fc".repeat(54))) {
            int bytes = tooLong.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> file(tooLong))
                    .withMessage("path: " + tooLong + " of " + bytes + " bytes (expected: <= 107)");
        }
    }

    @Test
    void anAbstractNameNeedsATransportThatHasThem() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> file("@name"))
                .withMessage("path: @name (expected: a path, as this transport has no abstract names)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> file("@"))
                .withMessage("path: @ (expected: a path, or @ and a name)");
        List<String> asked = new ArrayList<>();
        SocketFile named = new SocketFile("@name", true, path -> {
            asked.add(path);
            return new InprocAddress(path);
        });
        assertThat(named.asks()).isEqualTo(Transport.Address.Asks.NOTHING);
        assertThat(asked).containsOnly("\0name");
    }

    @Test
    void onlyABindMakesANewFile() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SocketFile("*", false, UnixDomainSocketAddress::of))
                .withMessage("path: * (expected: a path, or @ and a name)");
    }

    @Test
    void whatIsNoPathIsRefusedAtOnce() {
        assertThatIllegalArgumentException().isThrownBy(() -> file("a\0b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ipc", "shm"})
    void theFileHasThePermissionsOfTheConfig(String scheme, TestSockets sockets) throws IOException {
        Set<PosixFilePermission> group = PosixFilePermissions.fromString("rw-rw----");
        Path file = dir.resolve("permitted");
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).ipcPermissions(group));

        bind(pull, scheme + "://" + file);

        assertThat(Files.getPosixFilePermissions(file)).isEqualTo(group);
        ZMTPSocket push = sockets.open(PUSH);
        TestSockets.connect(push, scheme + "://" + file);
        push.sendOrDrop(TestSockets.message("m"));
        assertThat(TestSockets.receive(pull)).containsExactly("m");
    }

    /** A peer that connects before the file has its permissions stays connected. */
    @ParameterizedTest
    @ValueSource(strings = {"ipc", "shm"})
    void aPathThatIsTooLongForAnotherNameIsNotBoundWithPermissions(String scheme, TestSockets sockets)
            throws IOException {
        Set<PosixFilePermission> owner = PosixFilePermissions.fromString("rw-------");
        Path folder =
                Files.createDirectory(dir.resolve("x".repeat(99 - dir.toString().length())));
        Path file = folder.resolve("s");
        ZMTPSocket pull = sockets.open(sockets.builder(PULL).ipcPermissions(owner));

        assertThat(failure(pull.bind(scheme + "://" + file).readyFuture()))
                .hasMessageContaining(file + ": the file would have its path before its permissions");

        assertThat(folder).isEmptyDirectory();
        bind(sockets.open(PULL), scheme + "://" + file);
    }

    @Test
    void anAbstractNameHasNoPermissions() throws IOException {
        SocketFile name = new SocketFile("@name", true, LocalAddress::new);
        name.resolve();

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> name.checkPermissions(Set.of()))
                .withMessage("@name: an abstract name (expected: a path, whose file has permissions)");
    }

    private static SocketFile file(String text) {
        return new SocketFile(text, true, UnixDomainSocketAddress::of);
    }

    /** Such as that of Windows, where the channel has to delete its file. */
    @Test
    void aFileSystemWithoutKeysHasNoOtherName(@TempDir Path folder) throws IOException {
        assertThat(SocketFile.beside(folder.resolve("socket"))).isNotNull();
        try (FileSystem zip = FileSystems.newFileSystem(folder.resolve("x.zip"), Map.of("create", "true"))) {
            assertThat(SocketFile.beside(zip.getPath("/socket"))).isNull();
        }
    }

    /** Windows tells only that it is another file. */
    @Test
    void aFileSystemWithoutTypesHasASocketIfItIsAnotherFile(@TempDir Path folder) throws IOException {
        BasicFileAttributes other = mock(BasicFileAttributes.class);
        when(other.isOther()).thenReturn(true);
        try (FileSystem zip = FileSystems.newFileSystem(folder.resolve("x.zip"), Map.of("create", "true"))) {
            Path file = Files.createFile(zip.getPath("/socket"));

            assertThat(StaleSocket.isSocket(file, other)).isTrue();
            assertThat(StaleSocket.isSocket(file, Files.readAttributes(file, BasicFileAttributes.class)))
                    .isFalse();
        }
    }

    /** Its other name would be longer than the addresses of the JDK's channels. */
    @Test
    void aLongPathCanBeBound(TestSockets sockets, @TempDir Path folder) throws IOException {
        String name = "d".repeat(93 - folder.toString().length() - 1);
        Path file = Files.createDirectories(folder.resolve(name)).resolve("s");
        for (int i = 0; i < 5; i++) { // with another name each time
            ZMTPSocket pull = sockets.open(PULL);
            bind(pull, "ipc://" + file);
            get(pull.closeAsync(Duration.ZERO));
        }
    }
}
