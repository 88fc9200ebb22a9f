package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.DISH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.HeapAllocator;
import dev.zmtp.testing.TestSockets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOption;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardingTest {

    private static final String GROUP = "a group";

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
            assertThat(proxy.statistics().backend().dropped()).isEqualTo(1);
        }
    }
}
