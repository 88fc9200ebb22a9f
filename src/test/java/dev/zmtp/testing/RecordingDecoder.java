package dev.zmtp.testing;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Records its calls, reads as many bytes as a test wants, and decodes each message to a word. */
public final class RecordingDecoder implements ZMTPDecoder {
    public final List<String> log = new ArrayList<>();
    public int reads = Integer.MAX_VALUE;
    public int closes;
    public Consumer<ChannelHandlerContext> onContent = ctx -> {};
    public RuntimeException failure;

    @Override
    public void header(ChannelHandlerContext ctx, long length, boolean more, List<Object> out) {
        log.add("header " + length + (more ? " more" : ""));
    }

    @Override
    public void content(ChannelHandlerContext ctx, ByteBuf data, List<Object> out) {
        log.add("content " + ByteBufUtil.hexDump(data));
        data.skipBytes(Math.min(reads, data.readableBytes()));
        onContent.accept(ctx);
        if (failure != null) {
            out.add(ZMTPMessage.from(Hex.buffer("ff")));
            throw failure;
        }
    }

    @Override
    public void finish(ChannelHandlerContext ctx, List<Object> out) {
        log.add("finish");
        out.add("decoded");
    }

    @Override
    public void close() {
        closes++;
    }
}
