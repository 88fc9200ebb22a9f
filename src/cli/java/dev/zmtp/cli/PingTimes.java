package dev.zmtp.cli;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The times of a connection, seen between the transport and the codec. A single connection at a time. */
@Sharable
final class PingTimes extends ChannelDuplexHandler {

    private final CountDownLatch answered = new CountDownLatch(1);
    private volatile long begun = System.nanoTime();
    private volatile long connected;
    private volatile long greeted;
    private volatile long pinged;
    private volatile long ponged;

    @Override
    public void connect(ChannelHandlerContext ctx, SocketAddress to, SocketAddress from, ChannelPromise promise) {
        begun = System.nanoTime();
        ctx.connect(to, from, promise);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        connected = System.nanoTime();
        ctx.fireChannelActive();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object written, ChannelPromise promise) {
        if (greeted != 0 && pinged == 0) {
            pinged = System.nanoTime();
        }
        ctx.write(written, promise);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object read) {
        if (pinged != 0 && ponged == 0) {
            ponged = System.nanoTime();
            answered.countDown();
        }
        ctx.fireChannelRead(read);
    }

    /** Called when the handshake has succeeded. What is written next is a PING. */
    void handshakeEnded() {
        greeted = System.nanoTime();
    }

    /** Waits for the answer to the PING. A peer of ZMTP 3.0 or earlier does not get any. */
    void await(Duration limit) throws InterruptedException {
        boolean came = answered.await(limit.toNanos(), TimeUnit.NANOSECONDS);
        if (!came) {
            pinged = 0;
        }
    }

    String text() {
        String times =
                "connect " + Greeter.time(connected - begun) + ", handshake " + Greeter.time(greeted - connected);
        return ponged == 0 ? times : times + ", ping " + Greeter.time(ponged - pinged);
    }
}
