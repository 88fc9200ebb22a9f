package dev.zmtp.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.testing.EventLoops;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.io.IOException;
import java.net.BindException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file of a Unix domain socket: who may use it, and who removes it. */
@Tag("netty-4.2-only")
class UnixSocketTest {

    private final EventLoops loops = new EventLoops(1);

    @TempDir
    Path temporary;

    private Path path;

    @BeforeEach
    void choosePath() {
        path = temporary.resolve("service").resolve("echo");
    }

    @AfterEach
    void stop() {
        loops.close();
    }

    private Channel serve() throws IOException {
        return open(UnixSocket.bind(loops.group(), path));
    }

    private static Channel open(ChannelFuture opened) {
        return opened.syncUninterruptibly().channel();
    }

    private void assertServed() throws InterruptedException {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        open(UnixSocket.connect(loops.group(), path, answer -> answers.add(answer.toString())));
        assertThat(answers.poll(10, TimeUnit.SECONDS)).isEqualTo("ZMTPMessage{[\"request\",\"number 1\"]}");
    }

    /** What a server leaves that is killed: the JDK's channel does not remove its file. */
    private void leaveStaleFile() throws IOException {
        Files.createDirectories(path.getParent());
        try (ServerSocketChannel killed = ServerSocketChannel.open(java.net.StandardProtocolFamily.UNIX)) {
            killed.bind(UnixDomainSocketAddress.of(path));
        }
        assertThat(path).exists();
    }

    @Test
    void aRouterEchoesOnAUnixSocket() throws Exception {
        serve();
        assertServed();
    }

    @Test
    void onlyTheOwnerMayEnterTheDirectory() throws IOException {
        serve();
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path.getParent())))
                .isEqualTo("rwx------");
    }

    @Test
    void theFileIsRemovedWhenTheServerIsClosed() throws IOException {
        Channel server = serve();
        assertThat(path).exists();
        server.close().syncUninterruptibly();
        assertThat(path).doesNotExist();
    }

    @Test
    void theFileOfAServerThatWasKilledIsReplaced() throws Exception {
        leaveStaleFile();
        serve();
        assertServed();
    }

    @Test
    void theFileOfAServerThatRunsIsNot() throws Exception {
        serve();
        ChannelFuture second = UnixSocket.bind(loops.group(), path).awaitUninterruptibly();
        assertThat(second.cause()).isInstanceOf(BindException.class);
        assertServed();
    }

    @Test
    void aFileThatIsNoSocketIsNot() throws IOException {
        Files.createDirectories(path.getParent());
        Files.writeString(path, "somebody's");
        assertThatThrownBy(this::serve).isInstanceOf(BindException.class);
        assertThat(path).hasContent("somebody's");
    }
}
