package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.FullAllocator;
import dev.zmtp.testing.TestSockets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("netty-4.2-only")
class ReceivedTest {

    private static final String ENDPOINT = "inproc://received";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    @Test
    void aReceiveFailsIfThereIsNoMemoryForTheRoutingId() {
        FullAllocator allocator = new FullAllocator();
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER)
                .pipelineInitializer(
                        (endpoint, pipeline) -> pipeline.channel().config().setAllocator(allocator)));
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER));
        router.bind(ENDPOINT);
        dealer.connect(ENDPOINT);
        loop.run();
        CompletableFuture<ZMTPMessage> received = router.receiveAsync();
        ZMTPMessage lost = message("lost");

        allocator.full = true;
        dealer.sendOrDrop(lost);
        loop.run();

        assertThat(received).isCompletedExceptionally();
        assertThat(TestSockets.failure(received)).isInstanceOf(OutOfMemoryError.class);
        assertThat(lost.refCnt()).isZero();

        allocator.full = false;
        dealer.sendOrDrop(message("next"));
        loop.run();
        router.receiveAsync().join().release();
    }
}
