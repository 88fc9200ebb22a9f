package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.BatchFlusher;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/** A ROUTER whose answers are computed by other threads, and sent in the order of the requests. */
public final class OffLoopWorker {

    /** Requests of one connection that may wait for their answers before no more is read from it. */
    private static final int MAX_UNANSWERED = 64;

    private OffLoopWorker() {}

    /** Serves on port 5555 until it is killed: the answer to a number is the next prime. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER on 127.0.0.1:5555, answers a number with the next prime."
                + " Try: mvn -q test-compile exec:java@example -Dexample=RequestClient");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ExecutorService workers =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
            bind(group, address, workers, OffLoopWorker::nextPrime)
                    .sync()
                    .channel()
                    .closeFuture()
                    .sync();
        } finally {
            workers.shutdown();
            group.shutdownGracefully();
        }
    }

    private static String nextPrime(String number) {
        return new BigInteger(number).nextProbablePrime().toString();
    }

    static ChannelFuture bind(
            EventLoopGroup group, SocketAddress address, Executor workers, UnaryOperator<String> work) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(ROUTER), new Requests(ch, workers, work));
                    }
                })
                .bind(address);
    }

    private static final class Requests extends ChannelInboundHandlerAdapter {
        private final Channel channel;
        private final Executor workers;
        private final UnaryOperator<String> work;
        private final BatchFlusher flusher;

        /** The answers that were not written yet, in the order of their requests. Used on the event loop only. */
        private final Queue<CompletableFuture<ZMTPMessage>> answers = new ArrayDeque<>();

        Requests(Channel channel, Executor workers, UnaryOperator<String> work) {
            this.channel = channel;
            this.workers = workers;
            this.work = work;
            flusher = new BatchFlusher(channel);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ZMTPMessage request = (ZMTPMessage) message; // ours, and released by the worker
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            answers.add(answer);
            answer.whenComplete((done, failure) -> ctx.executor().execute(() -> writeAnswers(ctx)));
            try {
                workers.execute(() -> answer(request, answer));
            } catch (RuntimeException e) { // rejected
                request.release();
                answer.completeExceptionally(e);
            }
            readOrPause();
        }

        /** On a worker's thread. Computes the last frame anew; those before it are the envelope of a REQ. */
        private void answer(ZMTPMessage request, CompletableFuture<ZMTPMessage> answer) {
            try {
                ByteBuf[] frames = new ByteBuf[request.size()];
                int last = frames.length - 1;
                String result = work.apply(request.frame(last).toString(StandardCharsets.UTF_8));
                for (int i = 0; i < last; i++) {
                    frames[i] = request.frame(i).retain();
                }
                frames[last] = Unpooled.copiedBuffer(result, StandardCharsets.UTF_8);
                answer.complete(ZMTPMessage.from(frames));
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            } finally {
                request.release();
            }
        }

        private void writeAnswers(ChannelHandlerContext ctx) {
            while (!answers.isEmpty() && answers.peek().isDone()) {
                CompletableFuture<ZMTPMessage> answer = answers.remove();
                if (answer.isCompletedExceptionally()) {
                    System.err.println(
                            "request failed: " + answer.handle((done, e) -> e).join());
                    ctx.close();
                } else {
                    ctx.write(answer.join()); // releases it, also if the connection is gone
                }
            }
            flusher.flush();
            readOrPause();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            readOrPause();
        }

        /** A peer is read from while it takes its answers and not too many of its requests wait. */
        private void readOrPause() {
            channel.config().setAutoRead(channel.isWritable() && answers.size() < MAX_UNANSWERED);
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
