package dev.zmtp.internal.websocket;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.codec.ZMTPCodec;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPHandshakeSuccess;
import dev.zmtp.testing.ScriptedPeer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A peer that sends WebSocket frames to a translator and a codec, whose handshake with NULL is complete. */
final class ZwsPeer implements AutoCloseable {

    /** The READY of a DEALER that is a client, with {@link ZwsVector#KEY}, and of one that is a server. */
    private static final String READY_OF_CLIENT = "82 9d 37 fa 21 3d "
            + "35 ff 73 78 76 be 78 36 64 95 42 56 52 8e 0c 69 4e 8a 44 3d 37 fa 27 79 72 bb 6d 78 65";

    private static final String READY_OF_SERVER = "82 1d 02 05 \"READY\" 0b \"Socket-Type\" 00 00 00 06 \"DEALER\"";

    final ScriptedPeer peer;

    private ZwsPeer(WebSocketRole ours, ZMTPSocketType type, UnaryOperator<ZMTPConfig.Builder> settings) {
        ZMTPConfig config =
                settings.apply(ZMTPConfig.builder().socketType(type)).build();
        ZMTPCodec codec = ZMTPCodec.from(config);
        ZwsTranslator translator = new ZwsTranslator(ours, codec.session(), () -> ZwsVector.KEY);
        peer = new ScriptedPeer(translator, codec);
        translator.start(new ZwsProtocol("NULL"));
        peer.send(ours == WebSocketRole.SERVER ? READY_OF_CLIENT : READY_OF_SERVER);
        peer.onlyEvent(ZMTPHandshakeSuccess.class);
        peer.received();
    }

    /** This side is a DEALER and a server, so its frames have no mask. */
    static ZwsPeer ofServer(UnaryOperator<ZMTPConfig.Builder> settings) {
        return new ZwsPeer(WebSocketRole.SERVER, ZMTPSocketType.DEALER, settings);
    }

    /** This side is a DEALER and a client, so the peer's frames have no mask. */
    static ZwsPeer ofClient(UnaryOperator<ZMTPConfig.Builder> settings) {
        return new ZwsPeer(WebSocketRole.CLIENT, ZMTPSocketType.DEALER, settings);
    }

    ZwsPeer receive(String hex) {
        peer.send(hex);
        return this;
    }

    /** The hex dump of what the peer has received since the last call. */
    String received() {
        return peer.received();
    }

    List<String> messages() {
        return new ArrayList<>(peer.messages);
    }

    void advance(long millis) {
        peer.channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        peer.channel.runScheduledPendingTasks();
        peer.channel.runPendingTasks();
    }

    @Override
    public void close() {
        if (peer.channel.isOpen()) {
            peer.channel.pipeline().close();
            advance(CloseTimer.MILLIS);
        }
        peer.close();
    }
}
