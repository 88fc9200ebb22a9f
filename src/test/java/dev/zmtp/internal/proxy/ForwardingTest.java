package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardingTest {

    private static final String GROUP = "a group";

    /** How many messages the source's event loop takes that the other has not sent. */
    private static final int ON_THE_WAY = 1_024;

    /** Has no memory for the name of the group and its end, once. */
    private static final class FullOnce extends HeapAllocator {
        private volatile boolean isFull;

        @Override
        protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
            if (isFull && initialCapacity == GROUP.length() + 1) {
                isFull = false;
                throw new OutOfMemoryError("of the test");
            }
            return super.newHeapBuffer(initialCapacity, maxCapacity);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMessageThatCannotBeForwardedIsDroppedAndTheNextOnePasses(int loops) {
        FullOnce allocator = new FullOnce();
        try (TestSockets sockets = new TestSockets(loops)) {
            ZMTPSocket frontend = sockets.open(DISH);
            ZMTPSocket backend = sockets.open(sockets.builder(RADIO).option(ChannelOption.ALLOCATOR, allocator));
            ZMTPSocket radio = sockets.open(RADIO);
            ZMTPSocket dish = sockets.open(DISH);
            frontend.subscribe(GROUP);
            dish.subscribe(GROUP);
            connect(radio, bind(frontend, "inproc://front"));
            connect(dish, bind(backend, "inproc://back"));
            get(radio.whenPeers(1));
            get(backend.whenPeers(1));
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            allocator.isFull = true;

            get(radio.sendAsync(message(GROUP, "lost")));
            await("the first was dropped", () -> !allocator.isFull);
            get(radio.sendAsync(message(GROUP, "next")));

            assertThat(receive(dish)).containsExactly(GROUP, "next");
            assertThat(proxy.stats().backend().dropped()).isEqualTo(1);
        }
    }

    /** The name of its sender is a frame more, and the service would end the connection of all clients. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aMessageThatIsTooLongWithTheNameOfItsPeerIsDropped(boolean frames) {
        UnaryOperator<ZMTPSocketConfig.Builder> limited = config -> config.codec(codec -> {
            if (frames) {
                codec.maxMessageFrames(4);
            } else {
                codec.maxFrameLength(500).maxMessageLength(500);
            }
        });
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket frontend = sockets.open(limited.apply(sockets.builder(ROUTER)));
            ZMTPSocket backend = sockets.open(limited.apply(sockets.builder(DEALER)));
            ZMTPSocket service = sockets.open(limited.apply(sockets.builder(REP)));
            ZMTPSocket stranger = sockets.open(DEALER);
            ZMTPSocket client = sockets.open(DEALER);
            connect(backend, bind(service, "tcp://127.0.0.1:*"));
            String front = bind(frontend, "tcp://127.0.0.1:*");
            connect(stranger, front);
            connect(client, front);
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);

            stranger.sendOrDrop(frames ? message("1", "2", "3", "4") : message("x".repeat(500)));
            await("it was dropped", () -> proxy.stats().backend().dropped() == 1);

            service.serve(request -> request.reply(message("reply")));
            assertThat(frames(get(client.requestAsync(message("request"), PATIENCE))))
                    .containsExactly("reply");
            assertThat(service.stats().connects()).isOne();
            assertThat(stranger.stats().connects()).isOne();
        }
    }

    /** Its own settings allow more. */
    @Test
    void aMessageWithinTheLimitsOfItsEndpointIsForwarded() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket frontend = sockets.open(sockets.builder(ROUTER).codec(codec -> codec.maxMessageFrames(4)));
            ZMTPSocket backend = sockets.open(DEALER);
            ZMTPSocket service = sockets.open(ROUTER);
            ZMTPSocket client = sockets.open(DEALER);
            connect(backend, bind(service, "inproc://back"));
            get(frontend.connect(bind(client, "tcp://127.0.0.1:*"), codec -> codec.maxMessageFrames(5))
                    .readyFuture());
            ZMTPProxy.start(frontend, backend);

            client.sendOrDrop(message("1", "2", "3", "4"));

            assertThat(receive(service)).hasSize(6).endsWith("1", "2", "3", "4");
        }
    }

    /** The event loop that sends comes to the first messages when the proxy is paused, and is busy when it goes on. */
    @Test
    void aPauseLosesNothingOfWhatIsOnItsWay() {
        int messages = 3_000;
        try (TestSockets sockets = new TestSockets(3)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendQueueLimit(messages, 1 << 20));
            ZMTPSocket pull = sockets.open(PULL);
            connect(push, bind(frontend, "inproc://front"));
            connect(backend, bind(pull, "inproc://back"));
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            Busy before = new Busy(backend.eventLoop());
            for (int i = 0; i < messages; i++) {
                push.sendOrDrop(message(Integer.toString(i)));
            }
            await("all that fits is on its way", () -> proxy.stats().frontend().messagesReceived() == ON_THE_WAY);

            CompletableFuture<Void> paused = proxy.pause();
            Busy after = new Busy(backend.eventLoop());
            before.end();
            get(after.begun());
            proxy.resume();
            settle(frontend);
            after.end();
            get(paused);

            for (int i = 0; i < messages; i++) {
                assertThat(receive(pull)).containsExactly(Integer.toString(i));
            }
        }
    }

    @Test
    void theObjectsOfManyFramesCountForWhatIsOnItsWay() {
        try (TestSockets sockets = new TestSockets(3)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ZMTPSocket backend = sockets.open(PUSH);
            ZMTPSocket push = sockets.open(PUSH);
            connect(push, bind(frontend, "inproc://front"));
            bind(backend, "inproc://back");
            ZMTPProxy proxy = ZMTPProxy.start(frontend, backend);
            Busy busy = new Busy(backend.eventLoop());
            for (int i = 0; i < 200; i++) {
                push.sendOrDrop(ZMTPMessage.from(Collections.nCopies(1_000, Unpooled.EMPTY_BUFFER)));
            }
            await("some are on their way", () -> proxy.stats().frontend().messagesReceived() > 10);
            settle(push);
            settle(frontend);
            long received = proxy.stats().frontend().messagesReceived();
            busy.end();

            assertThat(received).isLessThan(50);
        }
    }

    @Test
    void aProxyThatIsClosedWhileItStartsLeavesItsSocketsToOthers() {
        try (TestSockets sockets = new TestSockets(2)) {
            ZMTPSocket frontend = sockets.open(PULL);
            ProxyEnd front = ProxyEnd.of(ClockedSockets.core(frontend));
            ProxyEnd back = ProxyEnd.of(ClockedSockets.core(sockets.open(PUSH)));
            CompletableFuture<Void> ended = new CompletableFuture<>();
            front.inbox().claim(true);
            Forwarding forwarding = new Forwarding(front, back, null, () -> {});

            forwarding.end(() -> ended.complete(null));
            get(ended);
            assertThat(frontend.tryReceive()).isNull();
            forwarding.start();
            settle(frontend);

            assertThat(frontend.tryReceive()).isNull();
        }
    }
}
