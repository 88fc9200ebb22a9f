package dev.zmtp.bench;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * From what size on is it better to send a body by reference than to copy it into the batch? One operation sends 1 MiB of
 * bodies of one size over a loopback socket to a peer that only reads octets.
 *
 * <p>Compare two values of the system property: {@code -jvmArgsAppend -Ddev.zmtp.copyLimit=0} sends every body by
 * reference, {@code =65536} copies every one of these.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 4, time = 1)
public class CopyLimitBenchmark {

    private static final int OCTETS = 1 << 20;

    /** The octets of a body. */
    @Param({"512", "1024", "2048", "4096", "8192", "16384", "32768"})
    int size;

    private EventLoopGroup loops;
    private Channel server;
    private Channel client;
    private ByteBuf body;

    /** Connects, shakes hands, and takes the codec out of the reader. */
    @Setup
    public void connect() throws Exception {
        loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        server = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ZMTPSocketType.PULL), new ChannelInboundHandlerAdapter() {
                            @Override
                            public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
                                ctx.pipeline().remove(ZMTPCodec.class);
                            }

                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                ReferenceCountUtil.release(msg);
                            }
                        });
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.PUSH);
        client = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(codec)
                .connect(server.localAddress())
                .sync()
                .channel();
        codec.session().handshakeFuture().sync();
        body = PooledByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size);
    }

    /** Sends 1 MiB and waits until the transport has taken it. */
    @Benchmark
    public void mebibyte() throws Exception {
        client.eventLoop().submit(this::write).get().sync();
    }

    private ChannelFuture write() {
        for (int sent = size; sent < OCTETS; sent += size) {
            client.write(message(), client.voidPromise());
        }
        return client.writeAndFlush(message());
    }

    private ZMTPMessage message() {
        return ZMTPMessage.from(body.retainedDuplicate());
    }

    /** Ends all. */
    @TearDown
    public void close() throws Exception {
        client.close().sync();
        server.close().sync();
        body.release();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    }
}
