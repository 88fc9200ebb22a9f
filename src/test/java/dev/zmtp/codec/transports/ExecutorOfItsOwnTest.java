package dev.zmtp.codec.transports;

import static dev.zmtp.testing.Loopback.await;
import static dev.zmtp.testing.Loopback.converse;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.Loopback.End;
import dev.zmtp.testing.TestTransport;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The codec runs on the channel's event loop. Handlers after it may have an executor of their own. */
class ExecutorOfItsOwnTest {

    private Loopback net;
    private final End client = new End(codec -> codec);
    private final End server = new End(codec -> codec);
    private final EventExecutorGroup executors = new DefaultEventExecutorGroup(2);
    private final Queue<Channel> channels = new ConcurrentLinkedQueue<>();

    @BeforeEach
    void start(@TempDir Path dir) {
        net = new Loopback(TestTransport.NIO.kit(), TestTransport.NIO.newAddress(dir));
    }

    @AfterEach
    void stop() {
        for (Channel channel : channels) {
            channel.close();
            // A pipeline is torn down on both threads in turn, so both must still run.
            await(() -> channel.pipeline().get(End.class) == null);
        }
        net.close();
        executors
                .shutdownGracefully(0, Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS)
                .awaitUninterruptibly();
    }

    @SuppressWarnings("deprecation") // 4.2 would rather have handlers hand work over themselves, but users do this
    private ChannelHandler initializer(End end) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                channels.add(ch);
                ch.pipeline().addLast(end.codec).addLast(executors, end);
            }
        };
    }

    /** What the transport reads would wait as tasks of the executor: without bound, and uncounted. */
    @Test
    @SuppressWarnings("deprecation") // as above
    void aCodecWithAnExecutorOfItsOwnIsRefused() throws Exception {
        net.listen(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                channels.add(ch);
                ch.pipeline().addLast(executors, server.codec).addLast(server);
            }
        });
        net.connecting(new ChannelInboundHandlerAdapter()); // which says nothing: no handler would take it

        assertThat(server.handshake())
                .isInstanceOfSatisfying(
                        ZMTPHandshakeFailure.class,
                        failure -> assertThat(failure.cause())
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageStartingWith("executor of the codec: ")
                                .hasMessageEndingWith(
                                        "(expected: the channel's event loop; give one of their own to the handlers after the codec)"));
    }

    @Test
    void theConversationIsTheSameIfTheHandlersAfterTheCodecHaveOne() throws Exception {
        net.listen(initializer(server));
        converse(net.connecting(initializer(client)), client, server);
    }

    /** Another event loop would flush and time what this one writes. */
    @Test
    void aChannelWithACodecStaysWithItsEventLoop() throws Exception {
        net.listen(initializer(server));
        ChannelFuture connected = net.connecting(initializer(client)).syncUninterruptibly();

        ChannelFuture left = connected.channel().deregister().awaitUninterruptibly();

        assertThat(left.cause())
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("deregister: not with a ZMTPCodec (expected: one event loop until the channel is closed)");
        converse(connected, client, server);
    }
}
