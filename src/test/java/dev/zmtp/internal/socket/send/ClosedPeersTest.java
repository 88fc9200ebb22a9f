package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A ROUTER connects to two peers, of which one has gone. Messages for that peer have filled its queue. When its endpoint
 * ends, nothing waits for it any more.
 */
@Tag("netty-4.2-only")
class ClosedPeersTest {

    private static final Duration LINGER = Duration.ofSeconds(5);

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocketConfig.Builder router() {
        return ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(2, 1 << 20).linger(LINGER);
    }

    private ZMTPSocket bound(String name) {
        ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).codec(codec -> codec.localIdentity(name)));
        dealer.bind("inproc://" + name);
        loop.run();
        return dealer;
    }

    private ZMTPEndpoint connectToOneThatLeaves(ZMTPSocket router) {
        ZMTPSocket gone = bound("gone");
        ZMTPEndpoint endpoint = router.connect("inproc://gone");
        loop.run();
        gone.closeAsync(Duration.ZERO);
        loop.run();
        return endpoint;
    }

    private static boolean trySend(ZMTPSocket router, String name) {
        ZMTPMessage message = message(name, "content");
        boolean isSent = router.trySend(message);
        if (!isSent) {
            message.release();
        }
        return isSent;
    }

    private AtomicInteger fillTheQueue(ZMTPSocket router) {
        while (trySend(router, "gone")) {
            loop.run();
        }
        assertThat(router.isWritable()).isFalse();
        AtomicInteger told = new AtomicInteger();
        router.onWritable(told::incrementAndGet);
        loop.run();
        assertThat(told).hasValue(0);
        return told;
    }

    @Test
    void aSenderIsToldWhenTheEndpointIsClosed() {
        ZMTPSocket router = loop.open(router());
        bound("there");
        router.connect("inproc://there");
        ZMTPEndpoint gone = connectToOneThatLeaves(router);
        AtomicInteger told = fillTheQueue(router);

        gone.close();
        loop.run();

        assertThat(told).hasPositiveValue();
        assertThat(router.isWritable()).isTrue();
        assertThat(trySend(router, "there")).isTrue();
        loop.advance(LINGER);
    }

    @Test
    void aSenderIsToldWhenTheEndpointGivesUp() {
        ZMTPSocket router = loop.open(router().reconnectDelay(Duration.ZERO, Duration.ZERO));
        bound("there");
        router.connect("inproc://there");
        ZMTPSocket gone = bound("gone");
        ZMTPEndpoint endpoint = router.connect("inproc://gone");
        loop.run();
        AtomicInteger told = fillTheQueue(router);

        gone.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(endpoint.state()).isEqualTo(ZMTPEndpoint.State.STOPPED);
        assertThat(told).hasPositiveValue();
        assertThat(router.isWritable()).isTrue();
    }

    @Test
    void aProxyGoesOnWhenTheEndpointIsClosed() {
        ZMTPSocket frontend = loop.open(ZMTPSocketConfig.builder(PULL));
        frontend.bind("inproc://frontend");
        ZMTPSocket backend = loop.open(router());
        ZMTPSocket there = bound("there");
        backend.connect("inproc://there");
        ZMTPEndpoint gone = connectToOneThatLeaves(backend);
        ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
        ZMTPSocket source = loop.open(ZMTPSocketConfig.builder(PUSH));
        source.connect("inproc://frontend");
        for (int i = 0; i < 3; i++) {
            source.sendOrDrop(message("gone", "content"));
        }
        source.sendOrDrop(message("there", "content"));
        loop.run();
        assertThat(proxy.stats().backend().messagesSent()).isEqualTo(2);

        gone.close();
        loop.run();

        assertThat(frames(there.tryReceive())).containsExactly("content");
        loop.advance(LINGER);
        proxy.close();
        loop.run();
    }
}
