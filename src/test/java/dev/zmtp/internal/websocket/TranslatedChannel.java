package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPSession;
import dev.zmtp.testing.Hex;
import dev.zmtp.testing.Recorder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;
import java.util.function.UnaryOperator;

/** A channel of a translator alone, whose time stands still. A recorder has the place of the codec. */
final class TranslatedChannel implements AutoCloseable {

    /** The greeting of ZMTP 3.0 that a codec with PLAIN receives. */
    static final String PLAIN_GREETING = "ff 00*7 01 7f 03 00 \"PLAIN\" 00*15 00 00*31";

    final Recorder<String> codec = Recorder.ofBytes();
    final ZwsTranslator translator;
    final EmbeddedChannel channel;

    TranslatedChannel(WebSocketRole role, UnaryOperator<ZMTPConfig.Builder> settings) {
        this(new EmbeddedChannel(), role, settings);
    }

    private TranslatedChannel(EmbeddedChannel channel, WebSocketRole role, UnaryOperator<ZMTPConfig.Builder> settings) {
        ZMTPConfig config = settings.apply(ZMTPConfig.builder().socketType(ZMTPSocketType.DEALER))
                .build();
        translator = new ZwsTranslator(role, ZMTPSession.from(config), () -> ZwsVector.KEY);
        this.channel = channel;
        channel.freezeTime();
        channel.pipeline().addLast(translator, codec);
    }

    /** A channel that is past both greetings. */
    static TranslatedChannel open(
            WebSocketRole role, ZwsProtocol protocol, UnaryOperator<ZMTPConfig.Builder> settings) {
        return new TranslatedChannel(role, settings).open(protocol);
    }

    /** A channel with PLAIN that is past both greetings, and has this allocator. */
    static TranslatedChannel openWith(ByteBufAllocator allocator, WebSocketRole role) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(allocator);
        // Longer fragments are refused before the handshake, which there is none of here.
        return new TranslatedChannel(channel, role, config -> config.maxHandshakeCommandLength(64 << 20))
                .open(new ZwsProtocol("PLAIN"));
    }

    private TranslatedChannel open(ZwsProtocol protocol) {
        translator.start(protocol);
        write(protocol.mechanism() == null ? "00*12" : "00*64");
        received();
        codec.messages.clear();
        return this;
    }

    /** Adds a handler between the translator and the codec. */
    void addAfterTranslator(ChannelHandler handler) {
        channel.pipeline().addAfter(channel.pipeline().context(translator).name(), null, handler);
    }

    static TranslatedChannel open(WebSocketRole role, ZwsProtocol protocol) {
        return open(role, protocol, config -> config);
    }

    /** A channel with PLAIN that is past both greetings. */
    static TranslatedChannel open(WebSocketRole role) {
        return open(role, new ZwsProtocol("PLAIN"));
    }

    /** Receives these bytes of the peer, in one read. */
    TranslatedChannel receive(byte[] bytes) {
        channel.writeInbound(channel.alloc().buffer(bytes.length + 1).writeBytes(bytes));
        return this;
    }

    TranslatedChannel receive(String hex) {
        return receive(Hex.bytes(hex));
    }

    /** Receives these bytes in two reads, the first of {@code cut} bytes. */
    TranslatedChannel receive(byte[] bytes, int cut) {
        return receive(Arrays.copyOf(bytes, cut)).receive(Arrays.copyOfRange(bytes, cut, bytes.length));
    }

    /** The hex dump of what the codec got since the last call. */
    String zmtp() {
        String all = codec.joined();
        codec.messages.clear();
        return all;
    }

    /** Writes these bytes as a codec does. */
    ChannelFuture write(byte[] bytes) {
        return channel.writeAndFlush(channel.alloc().buffer(bytes.length + 1).writeBytes(bytes));
    }

    ChannelFuture write(String hex) {
        return write(Hex.bytes(hex));
    }

    /** The hex dump of what the peer has received since the last call. */
    String received() {
        StringBuilder all = new StringBuilder();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            all.append(Hex.dump(bytes));
        }
        return all.toString();
    }

    @Override
    public void close() {
        close(channel, translator);
    }

    /** Closes a channel whose peer will not answer a close frame. */
    static void close(EmbeddedChannel channel, ZwsTranslator translator) {
        if (channel.pipeline().context(translator) != null) {
            channel.pipeline().remove(translator);
        }
        channel.finishAndReleaseAll();
    }
}
