package dev.zmtp.internal.write;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPVersion;
import dev.zmtp.internal.connection.Connection;
import dev.zmtp.internal.connection.Session;
import dev.zmtp.internal.handshake.HandshakeController;
import dev.zmtp.internal.memory.MemoryLedger;
import dev.zmtp.internal.traffic.TrafficPhase;
import dev.zmtp.testing.InTraffic;
import dev.zmtp.testing.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The listeners of buffers, of which there is one for many. */
class WriteListenersTest {

    /** Takes what is written at once, if it is told so. */
    private static final class Transport extends ChannelOutboundHandlerAdapter {
        private boolean takesAll;

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            if (takesAll) {
                ((ByteBuf) msg).release();
                promise.setSuccess();
            } else {
                ctx.write(msg, promise);
            }
        }
    }

    private final Transport transport = new Transport();

    private ScriptedPeer dealer() {
        ScriptedPeer peer = InTraffic.as(DEALER).before(transport).start();
        peer.channel.runPendingTasks();
        transport.takesAll = true;
        return peer;
    }

    @ParameterizedTest(name = "bodies of {0} bytes")
    @ValueSource(ints = {1, 100})
    void nothingIsAllocatedForAMessage(int length) {
        try (ScriptedPeer peer = dealer()) {
            // Not by way of the writer: another test mocks it, and from then on each call of it allocates.
            FlushWindow turn = new FlushWindow(mock(TrafficWriter.class), peer.channel.eventLoop(), false, () -> 0);
            Connection connection = inTraffic(peer);
            WriteBatch batch = new WriteBatch(connection, ZMTPVersion.ZMTP31, null, turn);
            ZMTPMessage message = ZMTPMessage.from(Unpooled.wrappedBuffer(new byte[length]));
            long few = allocated(batch, message, peer.channel.voidPromise(), 50);
            long many = allocated(batch, message, peer.channel.voidPromise(), 450);
            assertThat(connection.session().messagesWritten()).isEqualTo(2L * FLUSHES * 500);
            // As many flushes, with nine times as many messages.
            assertThat(many - few).isLessThan(400L * FLUSHES); // less than a byte for each
            message.release();
        }
    }

    /** A connection on the channel of {@code peer} beside the one of its codec. */
    private static Connection inTraffic(ScriptedPeer peer) {
        Connection connection = new Connection(
                peer.channel.pipeline().context(peer.codec()),
                new Session(peer.codec().session().config(), new MemoryLedger(Long.MAX_VALUE)),
                System::nanoTime,
                HandshakeController::new);
        connection.enter(new TrafficPhase(connection, ZMTPVersion.ZMTP31, false, null));
        return connection;
    }

    private static final int FLUSHES = 1000;

    /** The bytes that this many flushes allocate, with {@code count} messages in each. */
    private static long allocated(WriteBatch batch, ZMTPMessage message, ChannelPromise promise, int count) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int i = -FLUSHES; i < FLUSHES; i++) { // first to warm up
            if (i == 0) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            for (int j = 0; j < count; j++) {
                batch.message(message.retain(), promise);
            }
            batch.flush();
        }
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void buffersWithoutPromisesHaveTheSameListenerAgain() {
        try (ScriptedPeer peer = dealer()) {
            WriteListeners listeners =
                    new WriteListeners(new TransportWrites(inTraffic(peer), ZMTPVersion.ZMTP31, new WritePromises()));
            List<ChannelFutureListener> first = new ArrayList<>();
            for (int messages : new int[] {0, 1, 2, 3, 4, 5, 6, 700}) {
                first.add(listeners.of(null, true, messages));
            }
            assertThat(first).doesNotHaveDuplicates().doesNotContain(listeners.of(null, false, 0));
            int i = 0;
            for (int messages : new int[] {0, 1, 2, 3, 4, 5, 6, 700}) {
                assertThat(listeners.of(null, true, messages)).isSameAs(first.get(i++));
            }
            assertThat(listeners.of(peer.channel.voidPromise(), 1)).isSameAs(first.get(1));
            assertThat(listeners.of(null, 0)).isSameAs(listeners.of(null, false, 0));
        }
    }
}
