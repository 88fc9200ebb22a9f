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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A recorded peer that is connected to a server. Waits are on the caller's thread. */
final class LivePeer extends ChannelInboundHandlerAdapter {

    private final Entry up;
    private final Duration wait;

    /** Guarded by this. */
    private final RecordedConversation conversation;

    /** Guarded by this. */
    private long received;

    /** Guarded by this. */
    private boolean ended;

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
        ZMTPSocketConfig config = builder.codec(codec -> {
                    codec.handshakeTimeout(wait);
                    if (id.length > 0) {
                        codec.localIdentity(id);
                    }
                })
                .build();
        Bootstrap bootstrap = new Bootstrap()
                .group(loop)
                .channelFactory(endpoint.transport()::channel)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        SslContext tls = config.tlsClient();
                        if (tls != null && endpoint.address() instanceof TcpAddress tcp) {
                            ch.pipeline().addLast(tls.newHandler(ch.alloc(), tcp.host(), tcp.port()));
                        }
                        ch.pipeline().addLast(ZMTPCodec.from(config.codec()), LivePeer.this);
                    }
                });
        Channel connected = connect(bootstrap, endpoint.address());
        channel = connected;
        await(connected.pipeline().get(ZMTPCodec.class).session().handshakeFuture(), "handshake");
    }

    /** Tries all addresses in turn. */
    private Channel connect(Bootstrap bootstrap, Transport.Address to) throws InterruptedException {
        CliException last = failed("no address");
        try {
            for (SocketAddress address : to.resolve()) {
                try {
                    return await(bootstrap.connect(address), "connection").channel();
                } catch (CliException e) {
                    last = e;
                }
            }
        } catch (IOException e) {
            throw failed(Main.text(e));
        }
        throw last;
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

    synchronized void expect(Entry entry) {
        conversation.expect(entry);
        readIfRoom();
    }

    /** Waits for all recorded messages of the server so far. One that does not come is a difference. */
    synchronized void awaitExpected() throws InterruptedException {
        long end = System.nanoTime() + wait.toNanos();
        while (conversation.isWaiting() && !ended) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        if (ended && conversation.isWaiting()) {
            throw failed("ended by the server (expected: open, as recorded)");
        }
        conversation.checkNothingMissing();
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

    @Override
    public synchronized void channelRead(ChannelHandlerContext ctx, Object object) {
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

    private void readIfRoom() {
        Channel its = channel;
        if (its != null) {
            its.config().setAutoRead(conversation.hasRoom());
        }
    }

    @Override
    public synchronized void channelInactive(ChannelHandlerContext ctx) {
        ended = true;
        notifyAll();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ZMTPHandshakeFailure) {
            ctx.close(); // the handshake future has the cause
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // the end of the connection is noticed by whoever waits
    }
}
