package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPHandshake;
import dev.zmtp.codec.ZMTPHandshakeFailure;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.codec.ZMTPSession;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Our end of one connection: a channel with a codec, and all that the codec fired, in order.
 *
 * <p>Messages are copied to the heap and released as they arrive, so that a test has nothing to release.
 */
final class OurEnd {

    /** Says that the channel is closed. */
    static final String CLOSED = "closed";

    private final Channel channel;
    private final ZMTPSession session;
    private final BlockingQueue<Object> fired = new LinkedBlockingQueue<>();

    /** Adds {@code front}, a codec and the inbox to the pipeline of {@code channel}. */
    OurEnd(Channel channel, ZMTPCodec codec, ChannelHandler... front) {
        this.channel = channel;
        this.session = codec.session();
        channel.pipeline().addLast(front).addLast(codec, new Inbox());
    }

    ZMTPSession session() {
        return session;
    }

    Channel channel() {
        return channel;
    }

    /** Writes and flushes; a message stays the caller's. */
    void write(ZMTPMessage message) {
        channel.writeAndFlush(message.retain());
    }

    /** Writes and flushes. */
    void write(ZMTPSubscription subscription) {
        channel.writeAndFlush(subscription);
    }

    /** The next that was fired must be the success of the handshake. */
    ZMTPHandshake handshake() {
        return next(ZMTPHandshakeSuccess.class).handshake();
    }

    /** The next that was fired must be the failure of the handshake. Returns the cause. */
    Throwable handshakeFailure() {
        return next(ZMTPHandshakeFailure.class).cause();
    }

    /** The next that was fired must be a message. */
    ZMTPMessage message() {
        return next(ZMTPMessage.class);
    }

    /** The next that was fired must be a subscription. */
    ZMTPSubscription subscription() {
        return next(ZMTPSubscription.class);
    }

    /** The next that was fired, which must be a {@code type}. */
    <T> T next(Class<T> type) {
        Object next = next(Patience.LIMIT);
        assertThat(next).isInstanceOf(type);
        return type.cast(next);
    }

    /** The next that was fired, or null if there is nothing within {@code wait}. */
    @Nullable
    Object next(Duration wait) {
        try {
            return fired.poll(wait.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    private final class Inbox extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (msg instanceof ZMTPMessage message) {
                fired.add(Messages.of(Messages.frames(message)));
                message.release();
            } else {
                fired.add(msg);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object evt) {
            if (evt instanceof ZMTPHandshakeSuccess || evt instanceof ZMTPHandshakeFailure) {
                fired.add(evt);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fired.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fired.add(CLOSED);
        }
    }
}
