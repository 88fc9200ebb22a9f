package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import org.junit.jupiter.api.Test;

class CaptureTest {

    @Test
    void theFramesOfACopyAreThoseOfTheMessage(TestSockets sockets) {
        ZMTPSocket socket = sockets.open(PAIR);
        ZMTPSocket watcher = sockets.open(PAIR);
        connect(watcher, bind(socket, "inproc://capture"));
        await("a peer", socket::isWritable);
        ByteBuf body =
                ClockedSockets.core(socket).context().allocator().buffer().writeZero(1_000);
        ZMTPMessage message = ZMTPMessage.from(body);

        assertThat(new Capture(ProxyEnd.of(ClockedSockets.core(socket)), true).offer(message))
                .isTrue();

        ZMTPMessage copy = get(watcher.receiveAsync());
        message.frame(0).setByte(500, 7);
        assertThat(copy.frame(0).getByte(500)).isEqualTo((byte) 7);
        copy.release();
        message.release();
    }
}
