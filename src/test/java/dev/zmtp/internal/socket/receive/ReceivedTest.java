package dev.zmtp.internal.socket.receive;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.message;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.RecordedOwner;
import dev.zmtp.socket.ClockedSockets;
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

    /** A thread can take a message in the moment in which another peer comes to the endpoint. */
    @Test
    void aMessageDoesNotGetTheNameOfTheNextPeer() {
        SocketContext context =
                ClockedSockets.context(ZMTPSocketConfig.builder(ROUTER).build(), loop.eventLoop(), () -> 1);
        Inbox inbox = new Inbox(context);
        Peer peer = new RecordedOwner(context).newPeer(null);
        peer.name("first".getBytes(UTF_8), false);
        int occupant = peer.occupant();
        ZMTPMessage taken = message("of the first");
        ZMTPMessage next = message("of the second");

        inbox.drop(peer);
        peer.name("second".getBytes(UTF_8), false);
        Received received = new Received(context, inbox);
        assertThat(received.take(peer, occupant, taken)).isTrue();

        assertThat(received).isNotDone();
        assertThat(taken.refCnt()).isZero();
        inbox.deliver(peer, next);
        assertThat(TestSockets.frames(received.join())).containsExactly("second", "of the second");
    }
}
