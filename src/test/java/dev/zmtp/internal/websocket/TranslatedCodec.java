package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.testing.ScriptedPeer;

/** A server with a codec for NULL, whose upgrade is complete and whose handshake is not. */
final class TranslatedCodec implements AutoCloseable {

    final ZMTPCodec codec = ZMTPCodec.of(ZMTPSocketType.DEALER);
    final ZwsTranslator translator = new ZwsTranslator(WebSocketRole.SERVER, codec.session());
    final ScriptedPeer peer = new ScriptedPeer(translator, codec);

    TranslatedCodec() {
        translator.start(new ZwsProtocol("NULL"));
        peer.received();
    }

    @Override
    public void close() {
        TranslatedChannel.close(peer.channel, translator);
    }
}
