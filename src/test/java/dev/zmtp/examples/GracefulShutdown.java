package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A ROUTER that answers "5" with the numbers from 1 to 5, and that finishes every answer before it ends. */
public final class GracefulShutdown {

    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Channel server;
    private volatile boolean ending;

    GracefulShutdown(EventLoopGroup group, SocketAddress address) throws InterruptedException {
        server = new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new Numbers());
                    }
                })
                .bind(address)
                .sync()
                .channel();
    }

    /** Serves on port 5555 until the process is asked to end. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER on 127.0.0.1:5555, answers 5 with 1 to 5, and finishes that when you press Ctrl+C."
                + " Try, with pyzmq:\n"
                + "python3 -c \"import zmq; s = zmq.Context().socket(zmq.DEALER); "
                + "s.connect('tcp://127.0.0.1:5555'); "
                + "s.send(b'5'); print([s.recv() for _ in range(5)])\"");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
        GracefulShutdown service = new GracefulShutdown(group, address);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            service.end();
            service.ended().awaitUninterruptibly(10, TimeUnit.SECONDS); // a peer that does not read is not waited for
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly();
        }));
        service.server.closeFuture().sync();
    }

    SocketAddress address() {
        return server.localAddress();
    }

    /** Accepts no more connections and no more requests. Each connection closes after its last answer. */
    void end() {
        ending = true;
        server.close().awaitUninterruptibly();
        for (Channel connection : connections) {
            connection.eventLoop().execute(() -> {
                Numbers numbers = connection.pipeline().get(Numbers.class);
                if (numbers != null) { // it is null if the connection has ended
                    numbers.endIfDone();
                }
            });
        }
    }

    /** Completes when all connections are closed. */
    Future<Void> ended() {
        return connections.newCloseFuture();
    }

    private final class Numbers extends SimpleChannelInboundHandler<ZMTPMessage> {
        private ChannelHandlerContext ctx;
        private int next;
        private int last;
        private boolean done;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            this.ctx = ctx;
            connections.add(ctx.channel());
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.fireChannelActive();
            endIfDone(); // accepted just before the server was closed
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage request) {
            if (ending) {
                return; // read and dropped: see endIfDone
            }
            int count = Integer.parseInt(request.frame(0).toString(StandardCharsets.UTF_8));
            last = Math.addExact(last, count); // exceptionCaught gets the exception of an overflow
            send();
        }

        private void send() {
            while (next < last && ctx.channel().isWritable()) {
                next++;
                ctx.write(ZMTPMessage.fromUTF8(ctx.alloc(), Integer.toString(next)));
            }
            ctx.flush();
            endIfDone();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.executor().execute(this::send); // as a task: this call may come from inside send
        }

        /** Closes the connection once every answer is on its way. */
        void endIfDone() {
            if (!ending || next < last || done) {
                return;
            }
            done = true;
            // An empty buffer is not sent. Its promise completes when everything before it is with the kernel.
            ctx.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(sent -> {
                if (sent.isSuccess() && ctx.channel() instanceof DuplexChannel connection) {
                    // The peer reads to the end and closes. We keep reading until it does: closing a socket that holds
                    // unread bytes resets the connection, and that destroys answers which the peer has not received.
                    connection.shutdownOutput();
                } else {
                    ctx.close();
                }
            });
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure) {
                System.err.println(event);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }
}
