package dev.zmtp.codec.traffic;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.testing.ScriptedPeer.GREETING;
import static dev.zmtp.testing.ScriptedPeer.ready;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Loopback;
import dev.zmtp.testing.TestTransport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** However the codec was added, what was read and waits to be decoded stays small, and a fast peer is not ended. */
class WaitingReadsTest {

    /** Less than this waits, and what one read of the transport brings. */
    private static final int MAX_WAITING = (64 << 10) + (64 << 10);

    /** An empty message. */
    private static final int SHORTEST = 2;

    /** How the codec comes into the pipeline. */
    private enum Way {
        /** Before the channel reads. */
        AT_THE_START {
            @Override
            void add(Channel ch, ZMTPCodec codec, User user) {
                ch.pipeline().addLast(codec, user);
            }
        },
        /** By a handler that has seen what the peer speaks. */
        LATE {
            @Override
            void add(Channel ch, ZMTPCodec codec, User user) {
                ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object first) {
                        ctx.pipeline().addLast(codec, user);
                        ctx.fireChannelRead(first);
                        ctx.pipeline().remove(this);
                    }
                });
            }
        },
        /** In place of another one. */
        REPLACED {
            @Override
            void add(Channel ch, ZMTPCodec codec, User user) {
                ch.pipeline().addLast("first", ZMTPCodec.of(PULL));
                ch.pipeline().replace("first", "second", codec);
                ch.pipeline().addLast(user);
            }
        },
        /** And then the channel gets another allocator for its reads. */
        ALLOCATOR_SET_LATER {
            @Override
            void add(Channel ch, ZMTPCodec codec, User user) {
                ch.pipeline().addLast(codec, user);
                ch.config().setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(64, 65_536, 65_536));
            }
        };

        abstract void add(Channel ch, ZMTPCodec codec, User user);
    }

    /** Counts messages, and looks at each how much is kept. */
    private static final class User extends ChannelInboundHandlerAdapter {
        private final CompletableFuture<Long> mostKept = new CompletableFuture<>();
        private final ZMTPMemoryBudget budget;
        private int left;
        private long most;

        private User(ZMTPMemoryBudget budget, int messages) {
            this.budget = budget;
            this.left = messages;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
            most = Math.max(most, budget.used());
            if (--left == 0) {
                mostKept.complete(most);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            mostKept.completeExceptionally(cause);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure failure) {
                mostKept.completeExceptionally(failure.cause());
            }
        }
    }

    static List<Arguments> everyWay() {
        return ways(TestTransport.NIO, TestTransport.EPOLL);
    }

    static List<Arguments> everyWayByIoUring() {
        return ways(TestTransport.IO_URING);
    }

    private static List<Arguments> ways(TestTransport... transports) {
        List<Arguments> all = new ArrayList<>();
        for (TestTransport transport : transports) {
            if (transport.isRequired() || transport.refusal() == null) {
                for (Way way : Way.values()) {
                    for (int framesPerTurn : new int[] {1, 128, 2_048}) {
                        all.add(Arguments.of(transport, way, framesPerTurn));
                    }
                }
            }
        }
        return all;
    }

    @TempDir
    private Path dir;

    @ParameterizedTest(name = "{0}, added {1}, {2} frames per turn")
    @MethodSource("everyWay")
    void whatWaitsStaysSmall(TestTransport transport, Way way, int framesPerTurn) throws Exception {
        assertThat(mostKept(transport, way, framesPerTurn)).isLessThan(MAX_WAITING);
    }

    @Tag("netty-4.2-only")
    @ParameterizedTest(name = "{0}, added {1}, {2} frames per turn", allowZeroInvocations = true)
    @MethodSource("everyWayByIoUring")
    void whatWaitsStaysSmallWithIoUring(TestTransport transport, Way way, int framesPerTurn) throws Exception {
        assertThat(mostKept(transport, way, framesPerTurn)).isLessThan(MAX_WAITING);
    }

    private long mostKept(TestTransport transport, Way way, int framesPerTurn) throws Exception {
        int messages = framesPerTurn < 128 ? 100_000 : 200_000;
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1 << 30);
        User user = new User(budget, messages);
        ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        TestTransport.Kit kit = transport.kit(1);
        try {
            Channel server = new ServerBootstrap()
                    .group(kit.group())
                    .channelFactory(kit.server())
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            channels.add(ch);
                            ZMTPCodec codec = ZMTPCodec.builder()
                                    .socketType(PULL)
                                    .maxFramesPerRead(framesPerTurn)
                                    .memoryBudget(budget)
                                    .build();
                            way.add(ch, codec, user);
                        }
                    })
                    .bind(transport.newAddress(dir))
                    .sync()
                    .channel();
            InetSocketAddress address = (InetSocketAddress) server.localAddress();
            try (Socket peer = new Socket(address.getAddress(), address.getPort())) {
                OutputStream out = peer.getOutputStream();
                out.write(Hex.bytes(GREETING + ready("PUSH")));
                out.write(new byte[SHORTEST * messages]);
                return user.mostKept.get(Loopback.PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        } finally {
            channels.close().sync();
            kit.group().shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
    }
}
