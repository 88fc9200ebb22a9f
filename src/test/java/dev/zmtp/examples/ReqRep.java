package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * A REQ and a REP in pipelines of the codec, which adds and removes no frame: the empty frame before a question, the
 * delimiter, is written and read here.
 *
 * <pre>
 *   REQ          ["", question]                 REP   ["", answer]
 *   proxies      [name, ..., "", question]            [name, ..., "", answer]
 * </pre>
 */
public final class ReqRep {

    private static final String EXAMPLE = "mvn -q test-compile exec:java@example -Dexample=ReqRep -Dexec.args=";

    private ReqRep() {}

    /** {@code serve} answers on port 5555 until it is killed; {@code ask} asks there three times. */
    public static void main(String... args) throws InterruptedException {
        if (args.length != 1 || !List.of("serve", "ask").contains(args[0])) {
            System.err.println("usage: " + EXAMPLE + "serve, or ask");
            return;
        }
        boolean serves = args[0].equals("serve");
        System.out.println(
                serves
                        ? "REP on 127.0.0.1:5555, greets. Try: " + EXAMPLE + "ask"
                        : "REQ to 127.0.0.1:5555, asks three times. Start first: " + EXAMPLE + "serve");
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 5555);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            ChannelFuture opened = serves
                    ? bind(group, address, name -> "Hello, " + name)
                    : connect(group, address, List.of("Ada", "Grace", "Edith"), System.out::println);
            if (opened.await().isSuccess()) {
                opened.channel().closeFuture().sync();
            } else {
                System.err.println(opened.cause().getMessage()); // such as that nobody listens
            }
        } finally {
            group.shutdownGracefully();
        }
    }

    /** {@code work} returns the answer to a question, on the event loop. */
    static ChannelFuture bind(EventLoopGroup group, SocketAddress address, UnaryOperator<String> work) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(REP), new Rep(work));
                    }
                })
                .bind(address);
    }

    /** Asks one question after the other, and closes the connection after the last answer. */
    static ChannelFuture connect(
            EventLoopGroup group, SocketAddress address, List<String> questions, Consumer<String> onAnswer) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(ZMTPCodec.of(REQ), new Req(questions, onAnswer));
                    }
                })
                .connect(address);
    }

    /** What both report, and how they end. */
    private abstract static class Peer extends SimpleChannelInboundHandler<ZMTPMessage> {
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeSuccess) {
                onReady(ctx);
            } else if (event instanceof ZMTPHandshakeFailure) {
                System.err.println(event);
            }
        }

        void onReady(ChannelHandlerContext ctx) {}

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("failed: " + cause);
            ctx.close();
        }
    }

    static final class Rep extends Peer {
        private final UnaryOperator<String> work;

        Rep(UnaryOperator<String> work) {
            this.work = work;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage request) {
            int question = 1 + delimiter(request);
            if (question == 0 || question == request.size()) {
                System.err.println("request: " + request + " (expected: an empty frame, then a question)");
                return; // as in libzmq: the peer gets no answer, and keeps its connection
            }
            String answer = work.apply(request.frame(question).toString(UTF_8));
            ZMTPMessage.Builder reply = new ZMTPMessage.Builder();
            for (int i = 0; i < question; i++) {
                reply.add(request.frame(i).retain()); // the envelope: it leads back to the REQ through all proxies
            }
            ctx.write(reply.add(ByteBufUtil.writeUtf8(ctx.alloc(), answer)).build());
        }

        /** The index of the first empty frame, or -1. */
        private static int delimiter(ZMTPMessage message) {
            for (int i = 0; i < message.size(); i++) {
                if (!message.frame(i).isReadable()) {
                    return i;
                }
            }
            return -1;
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.flush();
            ctx.channel().config().setAutoRead(ctx.channel().isWritable()); // a DEALER need not wait for answers
        }
    }

    static final class Req extends Peer {
        private final Queue<String> questions;
        private final Consumer<String> onAnswer;

        Req(List<String> questions, Consumer<String> onAnswer) {
            this.questions = new ArrayDeque<>(questions);
            this.onAnswer = onAnswer;
        }

        @Override
        void onReady(ChannelHandlerContext ctx) {
            askNext(ctx);
        }

        private void askNext(ChannelHandlerContext ctx) {
            String question = questions.poll();
            if (question == null) {
                ctx.close();
            } else {
                ctx.writeAndFlush(ZMTPMessage.fromUTF8(ctx.alloc(), "", question)); // a REP drops it without the ""
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ZMTPMessage reply) {
            ByteBuf delimiter = reply.frame(0);
            if (reply.size() != 2 || delimiter.isReadable()) {
                throw new IllegalArgumentException("reply: " + reply + " (expected: an empty frame and an answer)");
            }
            onAnswer.accept(reply.frame(1).toString(UTF_8));
            askNext(ctx);
        }
    }
}
