package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPDecoder;
import dev.zmtp.codec.ZMTPEncoder;
import dev.zmtp.codec.ZMTPEstimator;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPWriter;
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
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A record that is read from the wire and written to it directly, without a {@code ZMTPMessage}. */
public final class CustomCodec {

    /** A temperature: on the wire a frame with the place in UTF-8, then a frame of eight bytes. */
    public record Reading(String place, double degrees) {}

    private static final int MAX_PLACE_LENGTH = 1000;

    private CustomCodec() {}

    /** Has a reading converted from Celsius to Fahrenheit at the other end of a connection. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("ROUTER and DEALER with a codec of their own, in this process. Nothing to run beside it.");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        try {
            CompletableFuture<Reading> reply = new CompletableFuture<>();
            Channel server = serve(group, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .sync()
                    .channel();
            Channel client = connect(group, server.localAddress(), reply::complete)
                    .sync()
                    .channel();
            client.closeFuture().addListener(f -> reply.completeExceptionally(new ClosedChannelException()));
            client.writeAndFlush(new Reading("Bergen", 11.5)).sync();
            System.out.println(reply.join());
        } finally {
            group.shutdownGracefully().sync();
        }
    }

    static ChannelFuture serve(EventLoopGroup group, SocketAddress address) {
        return new ServerBootstrap()
                .group(group)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(codec(ROUTER), new Converter());
                    }
                })
                .bind(address);
    }

    /** Connects. {@code onReading} gets each reading that comes back, on the event loop. */
    static ChannelFuture connect(EventLoopGroup group, SocketAddress address, Consumer<Reading> onReading) {
        return new Bootstrap()
                .group(group)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.pipeline().addLast(codec(DEALER), new Receiver(onReading));
                    }
                })
                .connect(address);
    }

    private static ZMTPCodec codec(ZMTPSocketType type) {
        return ZMTPCodec.builder()
                .socketType(type)
                .encoder(session -> new ReadingEncoder())
                .decoder(session -> new ReadingDecoder())
                .build();
    }

    /** Writes to the buffer that goes to the transport. It has no state, so there is nothing to close. */
    static final class ReadingEncoder implements ZMTPEncoder {
        @Override
        public void estimate(Object message, ZMTPEstimator estimator) {
            estimator.frame(ByteBufUtil.utf8MaxBytes(((Reading) message).place()));
            estimator.frame(Double.BYTES);
        }

        @Override
        public void encode(Object message, ZMTPWriter writer) {
            Reading reading = (Reading) message;
            // The length in UTF-8 is known once the text is written: announce an upper bound, then correct it.
            ByteBuf frame = writer.frame(ByteBufUtil.utf8MaxBytes(reading.place()), true);
            int length = ByteBufUtil.writeUtf8(frame, reading.place());
            writer.reframe(length, true);
            writer.frame(Double.BYTES, false).writeDouble(reading.degrees());
        }

        @Override
        public void close() {}
    }

    /** Reads from the buffer that came from the transport. A malformed reading ends the connection. */
    static final class ReadingDecoder implements ZMTPDecoder {
        private int frames;
        private long length;
        private String place;
        private double degrees;

        @Override
        public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
            this.length = length;
            frames++;
            boolean fits =
                    frames == 1 ? more && length <= MAX_PLACE_LENGTH : frames == 2 && !more && length == Double.BYTES;
            if (!fits) {
                throw ZMTPException.malformed("reading", length + " bytes in frame " + frames, "a place and a double");
            }
        }

        @Override
        public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
            if (data.readableBytes() < length) {
                return; // unread bytes come again, followed by more
            }
            if (frames == 1) {
                place = data.readCharSequence((int) length, StandardCharsets.UTF_8)
                        .toString();
            } else {
                degrees = data.readDouble();
            }
        }

        @Override
        public void finish(ChannelHandlerContext ctx, List<Object> out) {
            out.add(new Reading(place, degrees));
            frames = 0;
        }

        @Override
        public void close() {} // a string needs no release
    }

    private static final class Converter extends SimpleChannelInboundHandler<Reading> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Reading celsius) {
            ctx.write(new Reading(celsius.place(), celsius.degrees() * 9 / 5 + 32));
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush(); // once for everything that came in one read
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.flush(); // otherwise a read that fills the buffer would wait for its own end
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
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

    private static final class Receiver extends SimpleChannelInboundHandler<Reading> {
        private final Consumer<Reading> onReading;

        Receiver(Consumer<Reading> onReading) {
            this.onReading = onReading;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Reading reading) {
            onReading.accept(reading);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure failure) {
                System.err.println(failure);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println("connection failed: " + cause);
            ctx.close();
        }
    }
}
