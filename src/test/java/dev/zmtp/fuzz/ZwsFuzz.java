package dev.zmtp.fuzz;

import dev.zmtp.ZMTPException;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.internal.websocket.WebSocketRole;
import dev.zmtp.internal.websocket.ZwsProtocol;
import dev.zmtp.internal.websocket.ZwsTranslator;
import dev.zmtp.testing.Hex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Bytes of a peer after the upgrade to WebSocket, or after the handshake. However they are cut, the codec gets the same
 * bytes of ZMTP, or its user the same messages, and the same failure, which is a {@link ZMTPException}. What is kept is
 * bounded by what has come, and at the end nothing is.
 */
public final class ZwsFuzz {

    private static final int MAX_FRAME = 10_000;

    /** A buffer for fragments is at most twice as long as they are, or this long. */
    private static final int AT_ONCE = 4_096;

    private static final byte[] READY = Hex.bytes("02 05 \"READY\" 0b \"Socket-Type\" 00 00 00 04 \"PUSH\"");
    private static final byte[] NO_MASK = new byte[4];

    private ZwsFuzz() {}

    /** One input. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        EventLoopThread.run(() -> run(new Input(bytes)));
    }

    private static void run(Input input) {
        int first = input.oneByte();
        WebSocketRole role = first % 2 == 0 ? WebSocketRole.CLIENT : WebSocketRole.SERVER;
        boolean isEstablished = (first / 2) % 2 == 1;
        ZwsProtocol protocol = input.of(new ZwsProtocol("NULL"), new ZwsProtocol("CURVE"), ZwsProtocol.BARE);
        int[] reads = FuzzedCodec.reads(input);
        byte[] stream = input.rest();

        Function<int[], String> translated =
                cuts -> isEstablished ? received(role, stream, cuts) : translated(role, protocol, stream, cuts);
        String whole = translated.apply(new int[0]);
        FuzzFailure.unlessEqual(translated.apply(reads), whole, "in other reads");
        FuzzFailure.unlessEqual(translated.apply(new int[] {1}), whole, "byte by byte");
    }

    private static ZMTPConfig config() {
        return ZMTPConfig.builder()
                .socketType(ZMTPSocketType.PULL)
                .maxFrameLength(MAX_FRAME)
                .build();
    }

    /** Returns what a codec gets. */
    private static String translated(WebSocketRole role, ZwsProtocol protocol, byte[] stream, int... reads) {
        ZwsTranslator translator = new ZwsTranslator(role, ZMTPSession.from(config()));
        Heard heard = new Heard();
        EmbeddedChannel channel = new EmbeddedChannel();
        Ledger ledger = ledgerOf(channel);
        channel.pipeline().addLast(translator, heard);
        translator.start(protocol);
        send(channel, ledger, AT_ONCE, stream, reads);
        return heard.text();
    }

    /** Returns what the user of a codec gets after the handshake with NULL. */
    private static String received(WebSocketRole role, byte[] stream, int... reads) {
        ZMTPCodec codec = ZMTPCodec.from(config());
        ZwsTranslator translator = new ZwsTranslator(role, codec.session());
        Heard heard = new Heard();
        EmbeddedChannel channel = new EmbeddedChannel();
        Ledger ledger = ledgerOf(channel);
        channel.pipeline().addLast(translator, codec, heard);
        translator.start(new ZwsProtocol("NULL"));
        channel.writeInbound(ready(role, ledger));
        channel.releaseOutbound();
        FuzzFailure.unless(codec.session().handshakeFuture().isSuccess(), "handshake", heard.text());
        send(channel, ledger, AT_ONCE + MAX_FRAME, stream, reads);
        return heard.text();
    }

    /** Returns the first frame of the peer, which has a mask if the peer is the client. */
    private static ByteBuf ready(WebSocketRole role, Ledger ledger) {
        ByteBuf frame = ledger.heapBuffer().writeByte(0x82);
        if (role == WebSocketRole.SERVER) {
            frame.writeByte(0x80 | READY.length).writeBytes(NO_MASK);
        } else {
            frame.writeByte(READY.length);
        }
        return frame.writeBytes(READY);
    }

    private static Ledger ledgerOf(EmbeddedChannel channel) {
        Ledger ledger = new Ledger(false);
        channel.config().setAllocator(ledger);
        return ledger;
    }

    /** @param kept bytes that can be kept whatever has come */
    private static void send(EmbeddedChannel channel, Ledger ledger, int kept, byte[] stream, int... reads) {
        int at = 0;
        for (int i = 0; at < stream.length && channel.isActive(); i++) {
            int length = reads.length == 0 ? stream.length : Math.min(reads[i % reads.length], stream.length - at);
            channel.writeInbound(ledger.heapBuffer(length).writeBytes(stream, at, length));
            at += length;
            channel.releaseOutbound();
            long taken = ledger.taken();
            FuzzFailure.unless(taken <= Math.max(kept, 2L * at), "bytes kept", taken);
        }
        channel.unsafe().closeForcibly();
        channel.finishAndReleaseAll();
        ledger.check();
    }

    /** What stands in the place of the codec, or behind it. */
    private static final class Heard extends ChannelInboundHandlerAdapter {
        private final StringBuilder heard = new StringBuilder();
        private String failure = "";

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            heard.append(message instanceof ByteBuf bytes ? ByteBufUtil.hexDump(bytes) : message + "\n");
            ReferenceCountUtil.release(message);
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
