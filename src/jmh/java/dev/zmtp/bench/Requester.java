package dev.zmtp.bench;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Writes requests: a number of them at the start, and then another one for each reply. */
final class Requester extends ChannelInboundHandlerAdapter {

    private final FlushPolicy policy;
    private final Progress progress;
    private final Supplier<Object> requests;
    private final Consumer<Object> replies;

    private ChannelHandlerContext ctx;
    private Flushes flushes;
    private long sent;
    private long received;
    private boolean started;

    /**
     * Creates one that has not started: it takes replies and writes nothing.
     *
     * @param progress gets the number of replies
     * @param requests makes the requests
     * @param replies takes over the replies, and throws if one is wrong
     */
    Requester(FlushPolicy policy, Progress progress, Supplier<Object> requests, Consumer<Object> replies) {
        this.policy = policy;
        this.progress = progress;
        this.requests = requests;
        this.replies = replies;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
        flushes = new Flushes(policy, ctx.channel());
    }

    /** Starts with so many requests. */
    void start(int outstanding) {
        ctx.channel().eventLoop().execute(() -> {
            started = true;
            for (int i = 0; i < outstanding; i++) {
                request();
            }
            ctx.flush(); // no read ends before something is sent
        });
    }

    private void request() {
        ctx.write(requests.get(), ctx.voidPromise());
        sent++;
        flushes.written();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        replies.accept(msg);
        received++;
        if (started) {
            request();
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        flushes.readComplete();
        progress.reach(received);
    }

    /** Starts no more requests, and returns how many there were. */
    long stop() throws Exception {
        return ctx.channel()
                .eventLoop()
                .submit(() -> {
                    started = false;
                    ctx.flush();
                    return sent;
                })
                .get();
    }
}
