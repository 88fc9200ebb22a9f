package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockingBellTest {

    /** A reader of the other side may still want room after its writer has ended. */
    @Test
    void theEndOfTheOtherOutputIsNotForgottenWithTheNextRing(@TempDir Path directory) throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(directory.resolve("bell"));
        try (ServerSocketChannel server =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address)) {
            BlockingBell bell = new BlockingBell(SocketChannel.open(address));
            try (SocketChannel other = server.accept()) {
                other.write(ByteBuffer.wrap(new byte[] {Doorbell.LAST_RING, Doorbell.RING}));
                bell.await(() -> !bell.hasRungLast(), TimeUnit.SECONDS.toNanos(10));
                assertThat(bell.hasRungLast()).isTrue();
            } finally {
                bell.close();
            }
        }
    }
}
