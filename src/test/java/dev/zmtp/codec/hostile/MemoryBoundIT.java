package dev.zmtp.codec.hostile;

import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.LoopbackServer;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * A thousand peers that announce much and a hundred whose messages never end take what the limits allow and no more,
 * and an honest peer on the same event loop is served meanwhile.
 *
 * <p>Memory of buffers is counted exactly, by an allocator that keeps no pool. Memory of objects is what the collector
 * leaves over.
 */
class MemoryBoundIT {

    private static final int ANNOUNCERS = 1000;
    private static final int ANNOUNCED = 1 << 20;
    /** What an announcer sends of its frame. */
    private static final int SENT = 1000;

    private static final int ENDLESS = 100;
    private static final int MAX_FRAMES = 1024;
    private static final int MAX_MESSAGE = ANNOUNCED + MAX_FRAMES * 64;

    /** The largest read of the transport, and the largest batch of the codec. */
    private static final int READ = 1 << 16;

    private static final int BATCH = 1 << 16;

    private static final ZMTPConfig DEALER = ZMTPConfig.builder()
            .socketType(ZMTPSocketType.DEALER)
            .maxFrameLength(ANNOUNCED)
            .maxMessageLength(MAX_MESSAGE)
            .maxMessageFrames(MAX_FRAMES)
            .build();

    private static final byte[] HANDSHAKE = Hex.bytes(GREETING + ready("ROUTER"));

    /** The allocator of all connections, with the most that it had given out at the end of a read. */
    private static final class Counted {
        private final UnpooledByteBufAllocator alloc = new UnpooledByteBufAllocator(true);
        private final AtomicLong most = new AtomicLong();

        long used() {
            return alloc.metric().usedDirectMemory() + alloc.metric().usedHeapMemory();
        }

        void measure() {
            most.accumulateAndGet(used(), Math::max);
        }
    }

    private final Counted counted = new Counted();

    private SocketChannel connect(LoopbackServer server) throws IOException {
        SocketChannel channel = SocketChannel.open(server.address());
        channel.write(ByteBuffer.wrap(HANDSHAKE));
        return channel;
    }

    private List<SocketChannel> connect(LoopbackServer server, int count) throws IOException {
        int before = server.handshakes.get();
        List<SocketChannel> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(connect(server));
        }
        LoopbackServer.await("handshakes", () -> server.handshakes.get() >= before + count);
        return all;
    }

    private static void closeAll(List<SocketChannel> channels) throws IOException {
        for (SocketChannel channel : channels) {
            channel.close();
        }
    }

    /** The bytes of all live objects, without garbage. */
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Sends numbered messages and reads each back, many at a time, in order. Counts those that came back. */
    private static void talk(Socket socket, int messages, AtomicInteger heard) throws IOException {
        OutputStream out = socket.getOutputStream();
        DataInputStream in = new DataInputStream(socket.getInputStream());
        int window = 50;
        for (int first = 0; first < messages; first += window) {
            ByteBuffer all = ByteBuffer.allocate(window * 6);
            for (int i = first; i < first + window; i++) {
                all.put((byte) 0).put((byte) 4).putInt(i);
            }
            out.write(all.array());
            for (int i = first; i < first + window; i++) {
                assertThat(in.readUnsignedShort()).as("header").isEqualTo(4);
                assertThat(in.readInt()).isEqualTo(i);
                heard.incrementAndGet();
            }
        }
    }

    /** The first peer, after its handshake: what the server sent in it is read. */
    private static Socket honest(LoopbackServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout((int) LoopbackServer.PATIENCE.toMillis());
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(HANDSHAKE);
        DataInputStream in = new DataInputStream(socket.getInputStream());
        in.readFully(new byte[64]);
        assertThat(in.readUnsignedByte()).isEqualTo(4);
        in.readFully(new byte[in.readUnsignedByte()]);
        LoopbackServer.await("handshake", () -> server.handshakes.get() == 1);
        return socket;
    }

    private LoopbackServer server() {
        return new LoopbackServer(DEALER, counted.alloc, false, counted::measure);
    }

    @Test
    void announcedFramesTakeAtMostTwiceWhatHasArrived() throws IOException {
        byte[] start = Hex.bytes("02 %016x 61*%d".formatted(ANNOUNCED, SENT));
        try (LoopbackServer server = server();
                Socket honest = honest(server)) {
            List<SocketChannel> announcers = connect(server, ANNOUNCERS);
            LoopbackServer.await("memory", () -> counted.used() == 0);
            for (SocketChannel announcer : announcers) {
                announcer.write(ByteBuffer.wrap(start));
            }
            server.accept(); // the honest one
            for (int i = 0; i < ANNOUNCERS; i++) {
                server.accept().awaitBytes(HANDSHAKE.length + start.length);
            }
            talk(honest, 1000, new AtomicInteger());

            // The buffers of the last read and write may be a little later than the answer.
            LoopbackServer.await("memory", () -> counted.used() <= 2L * ANNOUNCERS * SENT);
            assertThat(counted.used()).isGreaterThanOrEqualTo((long) ANNOUNCERS * SENT);
            assertThat(counted.most.get()).isLessThanOrEqualTo(2L * ANNOUNCERS * SENT + READ + BATCH);
            assertThat(server.failures).isEmpty();

            closeAll(announcers);
            LoopbackServer.await("memory", () -> counted.used() == 0);
            talk(honest, 50, new AtomicInteger());
        }
        assertThat(counted.used()).isZero();
    }

    @Test
    void endlessMessagesTakeNoMoreThanTheLimitsOfTheirConnections() throws IOException {
        byte[] frames = Hex.bytes("01 00 ".repeat(MAX_FRAMES));
        try (LoopbackServer server = server()) {
            List<SocketChannel> endless = connect(server, ENDLESS);
            List<LoopbackServer.Accepted> ends = new ArrayList<>();
            for (int i = 0; i < ENDLESS; i++) {
                ends.add(server.accept());
            }
            long before = heap();
            for (SocketChannel flooder : endless) {
                flooder.write(ByteBuffer.wrap(frames));
            }
            ends.forEach(end -> end.awaitBytes(HANDSHAKE.length + frames.length));

            assertThat(server.failures).isEmpty();
            LoopbackServer.await("memory", () -> counted.used() == 0); // an empty frame needs no buffer
            // A frame after the first counts as 64 bytes, and may take no more. Garbage of others only takes patience.
            LoopbackServer.await("heap", () -> heap() - before <= (long) ENDLESS * MAX_FRAMES * 64);

            for (SocketChannel flooder : endless) {
                flooder.write(ByteBuffer.wrap(new byte[] {1, 0}));
            }
            LoopbackServer.await("ends", () -> ends.stream().allMatch(end -> end.fired.contains("closed")));
            assertThat(ends)
                    .allSatisfy(end -> assertThat(end.fired).containsExactly("success ZMTP31", "TOO_LARGE", "closed"));
            closeAll(endless);
        }
        assertThat(counted.used()).isZero();
    }

    /** Sends messages that never end, on a new connection whenever one is closed, until it is stopped. */
    private int flood(LoopbackServer server, AtomicBoolean stop, AtomicBoolean started) throws IOException {
        byte[] frames = Hex.bytes("01 00 ".repeat(MAX_FRAMES / 8));
        SocketChannel[] flooders = new SocketChannel[ENDLESS];
        int cut = 0;
        for (int i = 0; !stop.get(); i = (i + 1) % ENDLESS) {
            if (flooders[i] == null) {
                flooders[i] = connect(server);
            }
            try {
                flooders[i].write(ByteBuffer.wrap(frames));
            } catch (IOException wasCut) {
                flooders[i].close();
                flooders[i] = null;
                cut++;
                started.set(true);
            }
        }
        for (SocketChannel flooder : flooders) {
            if (flooder != null) {
                flooder.close();
            }
        }
        return cut;
    }

    @Test
    void anHonestPeerIsServedWhileOthersFloodTheSameLoop()
            throws IOException, InterruptedException, ExecutionException {
        int messages = 2000;
        byte[] start = Hex.bytes("02 %016x 61*%d".formatted(ANNOUNCED, SENT));
        AtomicBoolean stop = new AtomicBoolean();
        AtomicBoolean started = new AtomicBoolean();
        ExecutorService flooders = Executors.newSingleThreadExecutor();
        try (LoopbackServer server = server();
                Socket honest = honest(server)) {
            List<SocketChannel> announcers = connect(server, ANNOUNCERS);
            for (SocketChannel announcer : announcers) {
                announcer.write(ByteBuffer.wrap(start));
            }
            Future<Integer> flood = flooders.submit(() -> flood(server, stop, started));
            try {
                LoopbackServer.await("flood", started::get);
                AtomicInteger heard = new AtomicInteger();
                talk(honest, messages, heard);
                assertThat(heard).hasValue(messages);
                assertThat(flood.isDone()).isFalse();
                assertThat(server.failures).isNotEmpty().containsOnly("TOO_LARGE");
            } finally {
                stop.set(true);
            }
            assertThat(flood.get()).isPositive();
            // Of each flooder, a read may wait for its turn.
            long waiting = (long) ENDLESS * READ;
            assertThat(counted.most.get()).isLessThanOrEqualTo(2L * ANNOUNCERS * SENT + waiting + READ + BATCH);
            closeAll(announcers);
        } finally {
            stop.set(true);
            flooders.shutdown();
        }
        assertThat(counted.used()).isZero();
    }
}
