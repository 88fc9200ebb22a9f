package dev.zmtp.testing;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Stands in for a transport: counts writes and flushes, and fails the writes that a test names. */
public final class Gate extends ChannelOutboundHandlerAdapter {

    public final IOException broken = new IOException("broken");

    /** The readable bytes of each write. */
    public final List<Integer> writes = new ArrayList<>();

    public int flushes;

    /** How many writes had come when the channel was closed or disconnected. */
    public int writesBeforeClose;

    /** How many more writes succeed. */
    public int remaining = Integer.MAX_VALUE;

    /** Keeps what is written from the transport, and its promise from completing. */
    public boolean holds;

    private final List<Runnable> held = new ArrayList<>();

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        ByteBuf bytes = (ByteBuf) msg;
        writes.add(bytes.readableBytes());
        if (remaining-- <= 0) {
            bytes.release();
            promise.setFailure(broken);
        } else if (holds) {
            held.add(() -> ctx.write(bytes, promise));
        } else {
            ctx.write(bytes, promise);
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        flushes++;
        ctx.flush();
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        writesBeforeClose = writes.size();
        ctx.close(promise);
    }

    @Override
    public void disconnect(ChannelHandlerContext ctx, ChannelPromise promise) {
        writesBeforeClose = writes.size();
        ctx.disconnect(promise);
    }

    /** Lets go of what was held, and holds no more. */
    public void open() {
        holds = false;
        held.forEach(Runnable::run);
        held.clear();
    }

    /** Starts the connection with this as its transport, and forgets what the handshake has written. */
    public ScriptedPeer start(InTraffic connection) {
        ScriptedPeer peer = connection.before(this).start();
        reset();
        return peer;
    }

    public Gate reset() {
        writes.clear();
        flushes = 0;
        return this;
    }
}
