package dev.zmtp.cli;

import dev.zmtp.ZMTPMembership;
import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.capture.ZMTPRecording.Entry;
import dev.zmtp.capture.ZMTPRecording.Kind;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.internal.capture.RecordedConversation;
import dev.zmtp.internal.transport.Endpoint;
import dev.zmtp.internal.transport.TcpAddress;
import dev.zmtp.internal.transport.Transport;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPReplay;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A recorded peer that is connected to a server. Waits are on the caller's thread. */
final class LivePeer {

    /** More than a recording has in a message, or topics of a connection. */
    private static final int MANY = 1_000_000;

    private final Entry up;
    private final Duration wait;

    /** Guarded by this. */
    private final RecordedConversation conversation;

    /** Guarded by this. */
    private long received;

    /** Guarded by this. */
    private boolean ended;

    /** Why this side has ended the connection. Guarded by this. */
    private @Nullable Throwable failure;

    private volatile @Nullable Channel channel;

    LivePeer(Entry up, Duration wait, Consumer<ZMTPReplay.Difference> differences) {
        this.up = up;
        this.wait = wait;
        this.conversation = new RecordedConversation((message, expected, actual) ->
                differences.accept(new ZMTPReplay.Difference(up.connection(), message, expected, actual)));
    }

    /** Connects and makes the handshake. */
    void connect(EventLoopGroup loop, Endpoint endpoint, ZMTPSocketConfig.Builder builder) throws InterruptedException {
        byte[] id = Frames.bytes(up.routingId());
        if (id.length > 0 && id[0] == 0) {
            throw failed("routing id: 0x" + ByteBufUtil.hexDump(id) + " (expected: a first byte that is not 0)");
        }
        ZMTPSocketConfig config = builder.codec(codec -> codec.handshakeTimeout(wait)
                        .maxMessageFrames(MANY)
                        .maxSubscriptions(MANY)
                        .localIdentity(id))
                .build();
        ZMTPCodec codec = connect(loop, endpoint, config);
        await(codec.session().handshakeFuture(), "handshake");
    }

    /** Tries all addresses in turn, and returns the codec of the connection. */
    private ZMTPCodec connect(EventLoopGroup loop, Endpoint endpoint, ZMTPSocketConfig config)
            throws InterruptedException {
        Transport.Address to = endpoint.address();
        CliException last = failed("no address");
        try {
            for (SocketAddress address : to.resolve()) {
                ZMTPCodec codec = ZMTPCodec.from(config.codec());
                Bootstrap bootstrap = new Bootstrap()
                        .group(loop)
                        .channelFactory(endpoint.transport()::channel)
                        .handler(new Setup(config.tlsClient(), to, codec));
                ChannelFuture connecting = bootstrap.connect(address, to.source());
                try {
                    channel = await(connecting, "connection").channel();
                    return codec;
                } catch (CliException e) {
                    last = e;
                } finally {
                    if (channel == null) {
                        connecting.addListener(LivePeer::closeIfConnected);
                    }
                }
            }
        } catch (IOException e) {
            throw failed(Main.text(e));
        }
        throw last;
    }

    /** Closes a connection that comes after its time, beside that to the next address. */
    private static void closeIfConnected(Future<?> connecting) {
        if (connecting.isSuccess()) {
            ((ChannelFuture) connecting).channel().close();
        }
    }

    private final class Setup extends ChannelInitializer<Channel> {
        private final @Nullable SslContext tls;
        private final Transport.Address to;
        private final ZMTPCodec codec;

        Setup(@Nullable SslContext tls, Transport.Address to, ZMTPCodec codec) {
            this.tls = tls;
            this.to = to;
            this.codec = codec;
        }

        @Override
        protected void initChannel(Channel ch) {
            if (tls != null && to instanceof TcpAddress tcp) {
                ch.pipeline().addLast(tls.newHandler(ch.alloc(), tcp.host(), tcp.port()));
            }
            ch.pipeline().addLast(codec, new Input());
        }
    }

    private <F extends Future<?>> F await(F future, String step) throws InterruptedException {
        if (!future.await(wait.toMillis())) {
            throw failed("no " + step + " within " + wait.toMillis() + " ms");
        }
        if (!future.isSuccess()) {
            throw failed(step + ": " + Main.text(future.cause()));
        }
        return future;
    }

    private CliException failed(String reason) {
        return CliException.failed("connection " + up.connection() + ": " + reason);
    }

    /** Sends what the recorded peer has sent. */
    void send(Entry entry) throws InterruptedException {
        Channel to = channel;
        if (to != null) {
            await(to.writeAndFlush(object(entry)), "send");
        }
    }

    private static Object object(Entry entry) {
        if (entry.kind() == Kind.RECEIVED) {
            return Frames.message(entry.frames());
        }
        ByteBuf topic = Unpooled.wrappedBuffer(entry.frames().get(0));
        return switch (RecordedConversation.command(entry)) {
            case "JOIN" -> ZMTPMembership.join(topic);
            case "LEAVE" -> ZMTPMembership.leave(topic);
            case "SUBSCRIBE" -> ZMTPSubscription.subscribe(topic);
            default -> ZMTPSubscription.cancel(topic);
        };
    }

    /** Expects a message of the server, and waits for it if many others are expected as well. */
    synchronized void expect(Entry entry) throws InterruptedException {
        conversation.expect(entry);
        readIfRoom();
        if (conversation.isFarAhead()) {
            awaitExpected();
        }
    }

    /**
     * Waits for all recorded messages of the server so far. It is a difference if one does not come within the maximum
     * time after the last.
     */
    synchronized void awaitExpected() throws InterruptedException {
        long before = -1;
        long end = 0;
        while (conversation.isWaiting() && !ended) {
            if (before != received) {
                before = received;
                end = System.nanoTime() + wait.toNanos();
            }
            if (!await(end)) {
                break;
            }
        }
        if (ended && conversation.isWaiting()) {
            throw failed(
                    failure == null
                            ? "ended by the server (expected: open, as recorded)"
                            : Main.text(failure) + ", so it was ended");
        }
        conversation.checkNothingMissing();
    }

    /** Waits for a change. Returns false if the time is over. */
    private boolean await(long end) throws InterruptedException {
        long left = end - System.nanoTime();
        if (left > 0) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return left > 0;
    }

    /** Tells the server that this peer sends no more. */
    void endOutput() {
        if (channel instanceof DuplexChannel its) {
            its.shutdownOutput();
        }
    }

    /** Waits for the server to end the connection. */
    synchronized void awaitEnd(long end) throws InterruptedException {
        while (!ended && await(end)) {
            // a message has come
        }
    }

    synchronized void checkNothingMore() {
        conversation.checkNothingMore();
    }

    synchronized long received() {
        return received;
    }

    void close() {
        Channel its = channel;
        if (its != null) {
            its.close().awaitUninterruptibly(wait.toMillis());
        }
    }

    private void readIfRoom() {
        Channel its = channel;
        if (its != null) {
            its.config().setAutoRead(conversation.hasRoom());
        }
    }

    private synchronized void arrived(Object object) {
        received++;
        if (object instanceof ZMTPMessage message) {
            conversation.message(Frames.take(message));
        } else if (object instanceof ZMTPSubscription subscription) {
            conversation.subscription(
                    subscription.isSubscribe() ? "SUBSCRIBE" : "CANCEL", ByteBufUtil.getBytes(subscription.topic()));
        } else if (object instanceof ZMTPMembership membership) {
            conversation.subscription(membership.isJoin() ? "JOIN" : "LEAVE", ByteBufUtil.getBytes(membership.group()));
        }
        readIfRoom();
        notifyAll();
    }

    private synchronized void ended(@Nullable Throwable cause) {
        ended = true;
        failure = failure == null ? cause : failure;
        notifyAll();
    }

    private final class Input extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object object) {
            arrived(object);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ended(null);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ZMTPHandshakeFailure) {
                ctx.close(); // the handshake future has the cause
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ended(cause);
            ctx.close();
        }
    }
}
