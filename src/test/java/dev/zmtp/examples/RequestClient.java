package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A DEALER that asks any ROUTER or REP that sends back the frames up to the empty one: {@code [number, "", question]},
 * {@code [number, "", answer]}. The answers may come in any order.
 *
 * <p>A question without an answer is sent again on the next connection. So a server may get it more than once, and may
 * have done its work although the future fails: ask only what may be asked twice.
 */
public final class RequestClient implements AutoCloseable {

    private static final ZMTPConfig CONFIG = ZMTPConfig.builder()
            .socketType(DEALER)
            .handshakeTimeout(Duration.ofSeconds(5))
            .heartbeatInterval(Duration.ofSeconds(5)) // notices a peer that is gone without a word
            .build();

    private record Request(String question, CompletableFuture<String> answer, Future<?> timer) {}

    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private final ReconnectingClient.Delays delays;
    private final Duration timeout;
    private final int window;

    // Used on the event loop only. Both are in the order of asking.
    private final Map<Long, Request> sent = new LinkedHashMap<>();
    private final Map<Long, Request> waiting = new LinkedHashMap<>();
    private long lastNumber;
    private Channel channel;
    private ChannelHandlerContext ready;
    private boolean closed;

    /**
     * Connects, and again whenever the connection fails or ends.
     *
     * @param timeout how long a question may take, with the time before it is sent
     * @param window how many questions the server may have at a time. More wait here, in memory, until they time out.
     */
    RequestClient(
            EventLoopGroup group,
            String host,
            int port,
            ReconnectingClient.Delays delays,
            Duration timeout,
            int window) {
        this.delays = delays;
        this.timeout = timeout;
        this.window = window;
        loop = group.next();
        bootstrap = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .remoteAddress(InetSocketAddress.createUnresolved(host, port)) // looked up at each attempt
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.from(CONFIG), new Peer());
                    }
                });
        loop.execute(this::connect);
    }

    /** Asks a server on port 5555 for a hundred answers. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("DEALER to 127.0.0.1:5555, asks a hundred questions, ten at a time, for up to a minute."
                + " Run beside it: mvn -q test-compile exec:java@example -Dexample=EchoRouter (or OffLoopWorker)");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ReconnectingClient.Delays delays =
                new ReconnectingClient.Delays(Duration.ofMillis(100), Duration.ofSeconds(30), Duration.ofSeconds(10));
        try (RequestClient client = new RequestClient(group, "127.0.0.1", 5555, delays, Duration.ofMinutes(1), 10)) {
            List<CompletableFuture<Void>> printed = new ArrayList<>();
            for (int i = 1; i <= 100; i++) {
                String question = Integer.toString(i);
                printed.add(client.ask(question).handle((answer, failure) -> {
                    System.out.println(question + ": " + (failure == null ? answer : failure));
                    return null;
                }));
            }
            printed.forEach(CompletableFuture::join);
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    /** Asks, from any thread. The future completes on the event loop; it fails after the timeout, and at the close. */
    CompletableFuture<String> ask(String question) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.execute(() -> {
            if (closed) {
                answer.completeExceptionally(new ClosedChannelException());
                return;
            }
            long number = ++lastNumber;
            Runnable expire = () -> finish(number, null, new TimeoutException("no answer within " + timeout));
            Future<?> timer = loop.schedule(expire, timeout.toNanos(), TimeUnit.NANOSECONDS);
            waiting.put(number, new Request(question, answer, timer));
            sendWaiting();
        });
        return answer;
    }

    /** Connects no more. Questions without an answer fail. */
    @Override
    public void close() {
        loop.execute(() -> {
            closed = true;
            channel.close();
            List<Request> unanswered = new ArrayList<>(sent.values());
            unanswered.addAll(waiting.values());
            sent.clear();
            waiting.clear();
            for (Request request : unanswered) {
                request.timer.cancel(false);
                request.answer.completeExceptionally(new ClosedChannelException());
            }
        });
    }

    private void connect() {
        if (!closed) {
            channel = bootstrap.connect().channel();
            channel.closeFuture().addListener(end -> {
                ready = null;
                if (!closed) {
                    loop.schedule(this::connect, delays.next(), TimeUnit.NANOSECONDS);
                }
            });
        }
    }

    private void sendWaiting() {
        Iterator<Map.Entry<Long, Request>> next = waiting.entrySet().iterator();
        while (ready != null && ready.channel().isWritable() && sent.size() < window && next.hasNext()) {
            Map.Entry<Long, Request> first = next.next();
            long number = first.getKey();
            Request request = first.getValue();
            next.remove();
            sent.put(number, request);
            write(ready, number, request);
        }
        if (ready != null) {
            ready.flush();
        }
    }

    private static void write(ChannelHandlerContext ctx, long number, Request request) {
        ByteBuf question = ByteBufUtil.writeUtf8(ctx.alloc(), request.question);
        ctx.write(ZMTPMessage.from(Unpooled.copyLong(number), Unpooled.EMPTY_BUFFER, question));
    }

    /** Ends a question, if it has not ended: the answer to one that was sent twice, or has timed out, may come late. */
    private void finish(long number, String answer, Throwable failure) {
        Request request = sent.containsKey(number) ? sent.remove(number) : waiting.remove(number);
        if (request != null) {
            request.timer.cancel(false);
            sendWaiting();
            if (failure == null) {
                request.answer.complete(answer);
            } else {
                request.answer.completeExceptionally(failure);
            }
        }
    }

    private final class Peer extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                delays.onConnected();
                ready = ctx;
                sent.forEach((number, request) -> write(ctx, number, request)); // again, and at most a window of them
                sendWaiting();
            } else if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.executor().execute(RequestClient.this::sendWaiting); // as a task: this call may come from inside it
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage answer) {
            delays.onMessage();
            if (answer.size() != 3
                    || answer.frame(0).readableBytes() != Long.BYTES
                    || answer.frame(1).isReadable()) {
                throw new IllegalArgumentException("answer: " + answer + " (expected: a number, \"\" and a text)");
            }
            finish(
                    answer.frame(0).getLong(answer.frame(0).readerIndex()),
                    answer.frame(2).toString(UTF_8),
                    null);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("connection lost: " + cause);
            ctx.close();
        }
    }
}
