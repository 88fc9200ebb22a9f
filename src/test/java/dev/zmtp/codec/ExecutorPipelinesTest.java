package dev.zmtp.codec;

import static dev.zmtp.codec.Loopback.await;
import static dev.zmtp.codec.Loopback.converse;
import static dev.zmtp.codec.Loopback.message;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.Loopback.End;
import dev.zmtp.testing.Fired;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Recorder;
import dev.zmtp.testing.TestTransport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A codec that was added with an executor other than the channel's event loop. */
class ExecutorPipelinesTest {

    private Loopback net;
    private final End client = new End(codec -> codec);
    private final End server = new End(codec -> codec);
    private final EventExecutorGroup executors = new DefaultEventExecutorGroup(2);
    private final Queue<End> onExecutors = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void start(@TempDir Path dir) {
        net = new Loopback(TestTransport.NIO.kit(), TestTransport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        for (End end : onExecutors) {
            end.channel.close();
            // A pipeline is torn down on both threads in turn, so both must still run.
            await(() -> end.channel.pipeline().get(ZMTPCodec.class) == null);
        }
        net.close();
        executors
                .shutdownGracefully(0, Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly();
    }

    @Test
    void theConversationIsTheSameOnTheCodecsOwnExecutor() throws Exception {
        net.listen(on(server));
        ChannelFuture connected = net.connecting(on(client));
        converse(connected, client, server);
    }

    @Test
    void aBarrierCompletesAfterWhatWasWrittenBeforeIt() throws Exception {
        net.listen(on(server));
        net.connecting(on(client)).sync();
        for (int i = 0; i < 200; i++) {
            ChannelFuture message = client.channel.write(ZMTPMessage.fromUTF8("a"));
            CompletableFuture<Boolean> isDone = new CompletableFuture<>();
            client.channel
                    .writeAndFlush(Unpooled.EMPTY_BUFFER)
                    .addListener(barrier -> isDone.complete(message.isDone()));
            assertThat(isDone.get(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            server.messages.poll(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS).release();
        }
    }

    @SuppressWarnings("deprecation") // 4.2 would rather have handlers hand work over themselves, but users do this
    private ChannelHandler on(End end, ChannelHandler... beside) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                ch.pipeline()
                        .addLast(executors, end.codec)
                        .addLast(executors, beside)
                        .addLast(end);
                onExecutors.add(end);
            }
        };
    }

    /**
     * Records what is fired and on which thread. It runs on the codec's executor, so that nothing is handed over to it.
     */
    private static final class Witness extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        private final End end;

        private Witness(End end) {
            this.end = end;
            end.codec.session().handshakeFuture().addListener(done -> hear("future"));
        }

        private void hear(String what) {
            boolean codecs =
                    end.channel.pipeline().context(end.codec).executor().inEventLoop();
            boolean channels = end.channel.eventLoop().inEventLoop();
            heard.add(what + (codecs ? " on the codec's executor" : "") + (channels ? " on the event loop" : ""));
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            hear(evt.getClass().getSimpleName());
            ctx.fireUserEventTriggered(evt);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            hear(Fired.describe(msg));
            ctx.fireChannelRead(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            hear(cause instanceof ZMTPException fault ? fault.code().name() : cause.toString());
            ctx.fireExceptionCaught(cause);
        }
    }

    /** Decodes nothing, and runs a callback when it is closed. */
    private record Closing(Runnable closed) implements ZMTPDecoder {
        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {}

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {}

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {}

        @Override
        public void close() {
            closed.run();
        }
    }

    /** A peer that sends this once it is connected, and closes nothing. */
    private Channel raw(String theirs) throws InterruptedException {
        Channel raw = net.connect(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ((ByteBuf) msg).release();
            }
        });
        raw.writeAndFlush(Hex.buffer(theirs));
        return raw;
    }

    @Test
    void everythingIsFiredOnTheCodecsExecutor() throws Exception {
        Witness witness = new Witness(server);
        net.listen(on(server, witness));
        Channel raw = raw(GREETING + ready("PAIR") + "00 01 61");
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeSuccess on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("message 61 on the codec's executor");
        raw.writeAndFlush(Hex.buffer("08 00"));
        assertThat(await(witness.heard)).isEqualTo("MALFORMED on the codec's executor");
        server.assertSucceeded();
        server.assertClosed();
        assertThat(server.failures).hasSize(1);
        assertThat(witness.heard).isEmpty();
        await(server.messages).release();
    }

    @Test
    void theHandshakeTimesOutOnTheCodecsExecutor() throws Exception {
        End mute = new End(codec -> codec.handshakeTimeout(Duration.ofMillis(20)));
        Witness witness = new Witness(mute);
        net.listen(on(mute, witness));
        raw(GREETING);
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeFailure on the codec's executor");
        mute.assertClosed();
        assertThat(mute.codec.session().handshakeFuture().cause())
                .isInstanceOfSatisfying(
                        ZMTPException.class,
                        cause -> assertThat(cause.code()).isEqualTo(ZMTPException.Code.HANDSHAKE_TIMEOUT));
        assertThat(witness.heard).isEmpty();
    }

    @Test
    void theHeartbeatTimesOutOnTheCodecsExecutor() throws Exception {
        AtomicReference<Witness> self = new AtomicReference<>();
        End mute = new End(codec -> codec.heartbeatInterval(Duration.ofMillis(20))
                .heartbeatTimeout(Duration.ofMillis(20))
                .decoder(session -> new Closing(() -> self.get().hear("close"))));
        Witness witness = new Witness(mute);
        self.set(witness);
        net.listen(on(mute, witness));
        raw(GREETING + ready("PAIR"));
        assertThat(await(witness.heard)).isEqualTo("future on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("ZMTPHandshakeSuccess on the codec's executor");
        assertThat(await(witness.heard)).isEqualTo("close on the codec's executor"); // on the timer's own thread
        assertThat(await(witness.heard)).isEqualTo("HEARTBEAT_TIMEOUT on the codec's executor");
        mute.assertClosed();
        assertThat(mute.failures).hasSize(1);
        assertThat(witness.heard).isEmpty();
    }

    @Test
    void heldWritesOnTheExecutorCountAndAreSentInOrder() throws Exception {
        int writes = 100;
        net.listen(on(server));
        Channel raw = raw(GREETING);
        await(() -> server.channel != null && server.channel.isActive());
        List<ChannelFuture> held = new ArrayList<>();
        for (int i = 0; i < writes; i++) {
            held.add(server.write(i, 1000));
        }
        server.channel.flush();
        // They count on their way to the executor, too, and then no more than what is held is left.
        await(server.channel.pipeline().context(server.codec).executor().submit(() -> {}));
        assertThat(server.channel.isWritable()).isFalse();
        assertThat(held).noneMatch(ChannelFuture::isDone);
        Recorder<String> received = Recorder.ofBytes();
        raw.pipeline().addFirst(received);
        raw.writeAndFlush(Hex.buffer(ready("PAIR")));
        server.assertSucceeded();
        for (ChannelFuture write : held) {
            await(write);
            assertThat(write.cause()).isNull();
        }
        // The executor hears of it a moment after the channel's own state has changed.
        await(() -> server.writability.contains(true));
        assertThat(server.channel.isWritable()).isTrue();
        StringBuilder sent = new StringBuilder();
        for (int i = 0; i < writes; i++) {
            sent.append(Hex.of("02 00*6 03 e8 %08x 00*996".formatted(i)));
        }
        await(() -> received.joined().length() >= sent.length());
        assertThat(received.joined()).endsWith(sent.toString());
    }

    @Test
    void aFailureOnTheExecutorFailsHeldWrites() throws Exception {
        net.listen(on(server));
        Channel raw = raw(GREETING);
        await(() -> server.channel != null && server.channel.isActive());
        List<ZMTPMessage> messages = new ArrayList<>();
        List<ChannelFuture> held = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            messages.add(message(1000));
            held.add(server.channel.write(messages.get(i)));
        }
        server.channel.flush();
        raw.writeAndFlush(Hex.buffer("00 00"));
        Throwable cause = ((ZMTPHandshakeFailure) server.handshake()).cause();
        for (ChannelFuture write : held) {
            await(write);
            assertThat(write.cause()).isSameAs(cause);
        }
        server.assertClosed();
        assertThat(messages).allMatch(message -> message.refCnt() == 0);
        assertThat(server.failures).isEmpty();
        assertThat(server.handshakes).isEmpty();
    }
}
