package dev.zmtp.testing;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;

/** Fires what a transport fires. Unlike the embedded channel itself, it runs no task meanwhile. */
public class ReadingTransport extends ChannelDuplexHandler {

    /** Before all other handlers. */
    public ChannelHandlerContext ctx;

    @Override
    public final void handlerAdded(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** These bytes are read. */
    public void read(String hex) {
        ctx.fireChannelRead(Hex.buffer(hex));
    }

    /** There is nothing more to read for now. */
    public void readComplete() {
        ctx.fireChannelReadComplete();
    }
}
