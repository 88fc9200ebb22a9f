package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PUSH;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;

/** A PUSH that any number of threads send through. They wait while the connection is full. */
public final class BlockingSender {

    private final Channel channel;
    private final BatchFlusher flusher;
    private final Object changed = new Object();

    /** Connects, and waits until the connection is there. */
    BlockingSender(EventLoopGroup group, SocketAddress address) throws IOException, InterruptedException {
        ChannelFuture connected = new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(PUSH), new Waker());
                    }
                })
                .connect(address)
                .await();
        if (!connected.isSuccess()) {
            throw new IOException(connected.cause().getMessage(), connected.cause());
        }
        channel = connected.channel();
        flusher = new BatchFlusher(channel);
        // A channel that was closed is never writable again, and does not say so: wake the threads that wait.
        channel.closeFuture().addListener(closed -> wake());
    }

    /** Sends a million messages to a PULL on port 5555, from four threads. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PUSH to 127.0.0.1:5555, sends a million messages from four threads."
                + " Start first, with pyzmq:\n"
                + "python3 -c \"import zmq; s = zmq.Context().socket(zmq.PULL); "
                + "s.bind('tcp://127.0.0.1:5555'); "
                + "[s.recv_multipart() for _ in range(1000000)]; print('all arrived')\"");
        try {
            sendAll(new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555), 4, 250_000);
        } catch (IOException e) {
            System.err.println(e.getMessage()); // such as that nobody listens
        }
    }

    static void sendAll(SocketAddress address, int threads, int messagesEach) throws IOException, InterruptedException {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            BlockingSender sender = new BlockingSender(group, address);
            Thread[] senders = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                senders[i] = new Thread(() -> sendMany(sender, messagesEach));
                senders[i].start();
            }
            for (Thread thread : senders) {
                thread.join();
            }
            sender.awaitSent();
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void sendMany(BlockingSender sender, int count) {
        try {
            for (int i = 0; i < count; i++) {
                sender.send(ZMTPMessage.fromUTF8("job", Integer.toString(i)));
            }
        } catch (ClosedChannelException e) {
            System.err.println("the connection was closed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    Channel channel() {
        return channel;
    }

    /** Sends {@code message}, which it releases. Waits while the connection is full. Not for use on an event loop. */
    void send(ZMTPMessage message) throws InterruptedException, ClosedChannelException {
        try {
            awaitWritable();
        } catch (InterruptedException | ClosedChannelException e) {
            message.release();
            throw e;
        }
        channel.write(message, channel.voidPromise());
        flusher.flush();
    }

    private void awaitWritable() throws InterruptedException, ClosedChannelException {
        synchronized (changed) {
            while (!channel.isWritable()) {
                if (!channel.isOpen()) {
                    throw new ClosedChannelException();
                }
                changed.wait();
            }
        }
    }

    /** Waits until everything that was sent is with the kernel: the end of the event loops drops the rest. */
    private void awaitSent() throws InterruptedException {
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).sync();
    }

    private void wake() {
        synchronized (changed) {
            changed.notifyAll();
        }
    }

    private final class Waker extends ChannelInboundHandlerAdapter {
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            wake();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause); // also why a write with a void promise failed
            ctx.close();
        }
    }
}
