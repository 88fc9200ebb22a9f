package dev.zmtp.codec.transports;

import static dev.zmtp.testing.Loopback.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPPeerCredentials;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.Loopback.End;
import dev.zmtp.testing.Loopback.Patient;
import dev.zmtp.testing.TestTransport;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

/** What a connection does on every transport, and behind other protocols: two codecs, each on its own channel. */
abstract class ConnectionContract {

    /** More of these than any kernel keeps for one connection. */
    private static final int BIG = 64 << 10;

    private static final int MANY_BIG = 1000;

    private final TestTransport transport;

    @TempDir
    private Path dir;

    private Loopback net;

    ConnectionContract(TestTransport transport) {
        this.transport = transport;
    }

    @BeforeEach
    void start(TestReporter reporter) {
        String refusal = transport.refusal();
        if (refusal != null) {
            reporter.publishEntry("transport", refusal);
            assertThat(transport.isRequired()).as(refusal).isFalse();
            assumeTrue(false, refusal);
        }
        net = new Loopback(transport.kit(), transport.newAddress(dir));
    }

    @AfterEach
    void stop() {
        if (net != null) {
            net.close();
        }
    }

    Loopback net() {
        return net;
    }

    /** Waits for a client. */
    void listen(ZMTPCodec codec, ChannelHandler... behind) throws InterruptedException {
        net.listen(all(codec, behind));
    }

    Channel connect(ZMTPCodec codec, ChannelHandler... behind) throws InterruptedException {
        return net.connect(all(codec, behind));
    }

    static ChannelHandler[] all(ChannelHandler first, ChannelHandler... others) {
        return Stream.concat(Stream.of(first), Stream.of(others)).toArray(ChannelHandler[]::new);
    }

    static End end() {
        return new End(codec -> codec);
    }

    void join(End left, End right) throws InterruptedException {
        listen(right.codec, right);
        connect(left.codec, left);
        left.assertSucceeded();
        right.assertSucceeded();
    }

    /** Runs {@code action} on the event loop of {@code end}. */
    private static void on(End end, Runnable action) throws InterruptedException {
        Future<?> done = end.channel.eventLoop().submit(action);
        await(done);
        assertThat(done.cause()).isNull();
    }

    /**
     * On its event loop, and done on return. Off and on by another thread while bytes flow, a channel of Netty 4.2.18
     * that reads into a ring of buffers may never read again, also without our handlers.
     */
    private static void autoRead(End end, boolean on) throws InterruptedException {
        on(end, () -> end.channel.config().setAutoRead(on));
    }

    @Test
    void anAuthenticatorIsToldWhoConnectedToANativeUnixSocket() throws InterruptedException, IOException {
        BlockingQueue<ZMTPAuthRequest> requests = new LinkedBlockingQueue<>();
        End right = new End(codec -> codec.authenticator(request -> {
            requests.add(request);
            return CompletableFuture.completedFuture(ZMTPAuthDecision.accept(""));
        }));
        join(end(), right);

        ZMTPPeerCredentials peer = await(requests).peerCredentials();

        if (transport.name().matches("(EPOLL|IO_URING)_(UNIX|ABSTRACT)")) {
            assertThat(peer.pid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(peer.uid()).isEqualTo(((Number) Files.getAttribute(dir, "unix:uid")).longValue());
            assertThat(peer.gids()).containsExactly(((Number) Files.getAttribute(dir, "unix:gid")).longValue());
        } else {
            assertThat(peer).isNull();
        }
    }

    @Test
    void theFutureCompletesBeforeTheEventAndBothOnTheEventLoop() throws InterruptedException {
        End left = end();
        End right = end();
        List<String> order = new CopyOnWriteArrayList<>();
        left.codec.session().handshakeFuture().addListener(done -> {
            order.add("future " + left.channel.eventLoop().inEventLoop());
            left.channel.writeAndFlush(ZMTPMessage.fromUTF8("from the listener"));
        });
        listen(right.codec, right);
        connect(
                left.codec,
                new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                        order.add("event " + ctx.channel().eventLoop().inEventLoop());
                        ctx.writeAndFlush(ZMTPMessage.fromUTF8("from the handler"));
                        ctx.fireUserEventTriggered(evt);
                    }
                },
                left);
        assertThat(left.handshake()).isInstanceOf(ZMTPHandshakeSuccess.class);
        for (String text : List.of("from the listener", "from the handler")) {
            ZMTPMessage message = await(right.messages);
            assertThat(message.frame(0).toString(StandardCharsets.US_ASCII)).isEqualTo(text);
            message.release();
        }
        assertThat(order).containsExactly("future true", "event true");
    }

    @Test
    void writesBeforeTheConnectArriveAfterTheHandshake() throws InterruptedException {
        End left = end();
        End right = end();
        listen(right.codec, right);
        List<ChannelFuture> early = new CopyOnWriteArrayList<>();
        connect(left.codec, left, new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                for (int i = 0; i < 100; i++) {
                    early.add(left.write(i, 100));
                }
                ctx.flush();
            }
        });
        for (int i = 0; i < 100; i++) {
            assertThat(right.number()).isEqualTo(i);
        }
        for (ChannelFuture write : early) {
            await(write);
            assertThat(write.cause()).isNull();
        }
    }

    @Test
    void messagesOfEverySizeAreSentAndEchoed() throws InterruptedException {
        End left = end();
        End right = end();
        join(left, right);
        List<ZMTPMessage> sent = new ArrayList<>();
        for (int length : List.of(0, 1, 255, 256, 1024, 1025, 4096, 4097, 65_535, 65_536, 1 << 20, 5 << 20)) {
            sent.add(ZMTPMessage.from(left.channel.alloc().buffer().writeZero(length)));
        }
        sent.add(ZMTPMessage.from(IntStream.range(0, 1000)
                .mapToObj(i -> left.channel.alloc().buffer().writeZero(i * 7 % 5000))
                .toList()));
        for (ZMTPMessage message : sent) {
            left.channel.writeAndFlush(message.retain());
            ZMTPMessage there = await(right.messages);
            assertThat(there).isEqualTo(message);
            right.channel.writeAndFlush(there);
            ZMTPMessage back = await(left.messages);
            assertThat(back).isEqualTo(message);
            back.release();
            message.release();
        }
        assertThat(left.failures).isEmpty();
        assertThat(right.failures).isEmpty();
    }

    static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** They begin and end anywhere in the reads of the transport. */
    @Test
    void largeBodiesArriveAsTheyWereSentWhateverIsBetweenThem() throws InterruptedException {
        End left = end();
        End right = end();
        join(left, right);
        Random random = new Random(1);
        int[] lengths = {
            20_000, 32_768, 65_526, 65_527, 65_528, 65_536, 65_536, 65_537, 100_000, 131_072, 131_073, 1 << 20, 3 << 20
        };
        List<byte[]> bodies = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            bodies.add(bytes(lengths[random.nextInt(lengths.length)]));
            if (i % 4 == 0) {
                bodies.add(bytes(random.nextInt(1000)));
            }
        }
        on(left, () -> {
            for (byte[] body : bodies) {
                left.channel.writeAndFlush(
                        ZMTPMessage.from(left.channel.alloc().buffer().writeBytes(body)));
            }
        });
        for (byte[] body : bodies) {
            ZMTPMessage message = await(right.messages);
            assertThat(ByteBufUtil.getBytes(message.frame(0))).isEqualTo(body);
            message.release();
        }
        assertThat(right.failures).isEmpty();
    }

    @Test
    void thousandsOfMessagesInBothDirectionsStayInOrder() throws InterruptedException {
        int messages = 20_000;
        End left = end();
        End right = end();
        join(left, right);
        for (End end : List.of(left, right)) {
            end.channel.eventLoop().execute(() -> {
                for (int i = 0; i < messages; i++) {
                    end.write(i, i % 1000 == 0 ? 10_000 : 4 + i % 300);
                    if (i % 64 == 0) {
                        end.channel.flush();
                    }
                }
                end.channel.flush();
            });
        }
        for (int i = 0; i < messages; i++) {
            assertThat(right.number()).isEqualTo(i);
            assertThat(left.number()).isEqualTo(i);
        }
    }

    /** Writes while it may, and goes on when it may again. */
    private static final class Pump extends ChannelInboundHandlerAdapter {
        private final End end;
        private int written;
        private int pauses;
        private long most;

        private Pump(End end) {
            this.end = end;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            pump(ctx.channel());
        }

        void pump(Channel channel) {
            while (written < MANY_BIG && channel.isWritable()) {
                written++; // first: the write may call us
                end.write(written - 1, BIG);
                most = Math.max(most, channel.unsafe().outboundBuffer().totalPendingWriteBytes());
            }
            if (!channel.isWritable()) {
                pauses++;
            }
            channel.flush();
        }
    }

    @Test
    void aSlowReaderPausesTheWriterUntilItReads() throws InterruptedException {
        End left = end();
        End right = end();
        join(left, right);
        autoRead(right, false);
        Pump pump = new Pump(left);
        on(left, () -> {
            left.channel.pipeline().addLast(pump);
            pump.pump(left.channel);
        });
        on(left, () -> {
            assertThat(pump.pauses).isPositive();
            if (transport != TestTransport.LOCAL) { // which has no bound of its own, and keeps all that is flushed
                assertThat(pump.written).isLessThan(MANY_BIG);
            }
        });
        autoRead(right, true);
        for (int i = 0; i < MANY_BIG; i++) {
            assertThat(right.number()).isEqualTo(i);
        }
        on(
                left,
                () -> assertThat(pump.most)
                        .isLessThan(left.channel.config().getWriteBufferHighWaterMark() + 2 * BIG + 4096));
        assertThat(left.writability).contains(true);
    }

    /** Writes much from {@code left} to a peer that reads nothing, closes, and returns the writes once all are done. */
    private List<ChannelFuture> closeMidStream(End left, End right) throws InterruptedException {
        join(left, right);
        autoRead(right, false);
        List<ChannelFuture> writes = new ArrayList<>();
        on(left, () -> {
            for (int i = 0; i < MANY_BIG; i++) {
                writes.add(left.write(i, BIG));
                if (i % 10 == 0) {
                    left.channel.flush();
                }
            }
        });
        left.channel.close();
        left.assertClosed();
        for (ChannelFuture write : writes) {
            await(write);
        }
        return writes;
    }

    private static int successes(List<ChannelFuture> writes) {
        return (int) writes.stream().takeWhile(ChannelFuture::isSuccess).count();
    }

    @Test
    void allPromisesCompleteInOrderWhenWeCloseMidStream() throws InterruptedException {
        End left = end();
        End right = end();
        List<ChannelFuture> writes = closeMidStream(left, right);
        assertThat(writes.subList(successes(writes), writes.size())).noneMatch(ChannelFuture::isSuccess);
        assertThat(left.failures).isEmpty();
        autoRead(right, true);
        right.assertClosed();
        right.numbers();
    }

    @Test
    void thePeerGetsCompleteMessagesInOrderWhenWeCloseMidStream() throws InterruptedException {
        End left = end();
        End right = end();
        List<ChannelFuture> writes = closeMidStream(left, right);
        autoRead(right, true);
        right.assertClosed();
        List<Integer> received = right.numbers();
        assertThat(received)
                .isEqualTo(IntStream.range(0, received.size()).boxed().toList());
        if (transport != TestTransport.LOCAL) { // which drops what the peer has not read yet
            assertThat(received).hasSizeGreaterThanOrEqualTo(successes(writes));
        }
    }

    @Test
    void allPromisesCompleteWhenThePeerClosesMidStream() throws InterruptedException {
        End left = end();
        End right = end();
        join(left, right);
        autoRead(right, false);
        List<ChannelFuture> writes = new ArrayList<>();
        on(left, () -> {
            for (int i = 0; i < MANY_BIG; i++) {
                writes.add(left.write(i, BIG));
            }
            left.channel.flush();
        });
        right.channel.close();
        left.assertClosed();
        for (ChannelFuture write : writes) {
            await(write);
        }
        assertThat(left.channel.isOpen()).isFalse();
        List<ChannelFuture> late = new ArrayList<>();
        on(left, () -> late.add(left.write(0, 4))); // there, as a write from elsewhere does not wake an idle loop
        assertThat(late)
                .singleElement()
                .satisfies(write -> assertThat(write.cause()).isInstanceOf(ClosedChannelException.class));
        right.numbers();
    }

    @Test
    void thePeersLastMessagesArriveBeforeItsEnd() throws InterruptedException {
        End left = end();
        End right = end();
        join(left, right);
        for (int i = 0; i < 9; i++) {
            left.write(i, 1000);
        }
        ChannelFuture last = left.write(9, 1000);
        left.channel.flush();
        await(last); // a shutdown is not in order with writes that the transport has not done yet
        if (left.channel instanceof DuplexChannel halves) {
            right.channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
            halves.shutdownOutput();
        } else {
            left.channel.close();
        }
        for (int i = 0; i < 10; i++) {
            assertThat(right.number()).isEqualTo(i);
        }
        right.assertClosed();
        left.assertClosed();
        assertThat(right.failures).isEmpty();
    }

    /** But on Netty's {@code LocalChannel}: its close drops what the peer has not read yet. */
    @Test
    void aCloseAfterABarrierLosesNothing() throws InterruptedException {
        int count = 200;
        End left = end();
        End right = end();
        join(left, right);
        on(left, () -> {
            for (int i = 0; i < count; i++) {
                left.write(i, 1_000);
            }
            left.channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        });
        if (transport != TestTransport.LOCAL) {
            for (int i = 0; i < count; i++) {
                assertThat(right.number()).isEqualTo(i);
            }
        }
        right.assertClosed();
        left.assertClosed();
        assertThat(right.numbers()).hasSizeLessThanOrEqualTo(count); // and what came is released
    }

    @Test
    void withoutAutoReadTheHandshakeCompletesAndEachReadBringsOneMessage() throws InterruptedException {
        End left = end();
        End right = end();
        net.set(ChannelOption.AUTO_READ, false);
        listen(right.codec, new FlowControlHandler(), new Patient(), right);
        connect(left.codec, new FlowControlHandler(), new Patient(), left);
        left.assertSucceeded();
        right.assertSucceeded();
        for (int i = 0; i < 10; i++) {
            left.write(i, i % 2 == 0 ? 4 : BIG);
        }
        left.channel.flush();
        for (int i = 0; i < 10; i++) {
            on(right, () -> assertThat(right.messages).isEmpty());
            right.channel.read();
            assertThat(right.number()).isEqualTo(i);
        }
        on(right, () -> assertThat(right.messages).isEmpty());
        assertThat(left.failures).isEmpty();
        assertThat(right.failures).isEmpty();
    }

    /** A task of the codec that the event loop still has would keep the codec. */
    @Test
    void anEndedConnectionLeavesNothingOnItsEventLoop() throws InterruptedException {
        List<WeakReference<ZMTPCodec>> codecs = new ArrayList<>();
        haveTimersAndClose(codecs);
        await(() -> {
            System.gc();
            return codecs.stream().allMatch(codec -> codec.get() == null);
        });
        assertThat(net.isRunning()).isTrue();
    }

    private void haveTimersAndClose(List<WeakReference<ZMTPCodec>> codecs) throws InterruptedException {
        UnaryOperator<ZMTPCodec.Builder> timers = codec -> codec.handshakeTimeout(Duration.ofHours(1))
                .heartbeatInterval(Duration.ofHours(1))
                .heartbeatTtl(Duration.ofSeconds(65));
        End left = new End(timers);
        End right = new End(timers);
        join(left, right);
        left.channel.writeAndFlush(ZMTPMessage.fromUTF8("hi"));
        await(right.messages).release();
        left.channel.close();
        left.assertClosed();
        right.assertClosed();
        net.stopListening();
        codecs.add(new WeakReference<>(left.codec));
        codecs.add(new WeakReference<>(right.codec));
    }
}
