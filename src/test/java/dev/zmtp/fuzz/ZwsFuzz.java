package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.websocket.WebSocketRole;
import dev.zmtp.internal.websocket.ZwsProtocol;
import dev.zmtp.internal.websocket.ZwsTranslator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;

/**
 * Bytes of a stranger after the upgrade to WebSocket. However they are cut, the codec gets the same bytes of ZMTP and
 * the same failure, which is a {@link ZMTPException}. What is kept is bounded by what has come, and at the end nothing
 * is.
 */
public final class ZwsFuzz {

    private static final int MAX_FRAME = 10_000;

    /** A buffer for fragments is at most twice as long as they are, or this long. */
    private static final int AT_ONCE = 4_096;

    private ZwsFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        WebSocketRole role = input.of(WebSocketRole.values());
        ZwsProtocol protocol = input.of(new ZwsProtocol("NULL"), new ZwsProtocol("CURVE"), ZwsProtocol.BARE);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = input.rest();

        String whole = translated(role, protocol, stream);
        FuzzFailure.unlessEqual(translated(role, protocol, stream, reads), whole, "in other reads");
        FuzzFailure.unlessEqual(translated(role, protocol, stream, 1), whole, "byte by byte");
    }

    private static String translated(WebSocketRole role, ZwsProtocol protocol, byte[] stream, int... reads) {
        ZMTPConfig config = ZMTPConfig.builder()
                .socketType(ZMTPSocketType.PULL)
                .maxFrameLength(MAX_FRAME)
                .build();
        Ledger ledger = new Ledger(false);
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(ledger);
        ZwsTranslator translator = new ZwsTranslator(role, ZMTPSession.from(config));
        Codec codec = new Codec();
        channel.pipeline().addLast(translator, codec);
        translator.start(protocol);
        int at = 0;
        for (int i = 0; at < stream.length && channel.isActive(); i++) {
            int length = reads.length == 0 ? stream.length : Math.min(reads[i % reads.length], stream.length - at);
            channel.writeInbound(ledger.heapBuffer(length).writeBytes(stream, at, length));
            at += length;
            channel.releaseOutbound();
            long kept = ledger.taken();
            FuzzFailure.unless(kept <= Math.max(AT_ONCE, 2L * at), "bytes kept", kept);
        }
        channel.unsafe().closeForcibly();
        channel.finishAndReleaseAll();
        ledger.check();
        return codec.text();
    }

    /** What stands in the place of the codec. */
    private static final class Codec extends ChannelInboundHandlerAdapter {
        private final StringBuilder heard = new StringBuilder();
        private String failure = "";

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            heard.append(ByteBufUtil.hexDump(bytes));
            bytes.release();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            FuzzFailure.unless(cause instanceof ZMTPException, "failure", cause);
            FuzzFailure.unless(failure.isEmpty(), "failures", Arrays.asList(failure, cause));
            failure = String.valueOf(cause.getMessage());
        }

        String text() {
            return heard + " " + failure;
        }
    }
}
