package dev.zmtp.internal.socket.receive;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.socket.ZMTPPeer;
import java.util.function.BiConsumer;

/** Passes the messages of a socket to a handler. */
public final class HandlerSink implements Sink {

    private final BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler;

    public HandlerSink(BiConsumer<? super ZMTPPeer, ? super ZMTPMessage> handler) {
        this.handler = handler;
    }

    @Override
    public boolean wants() {
        return true;
    }

    @Override
    public void take(Peer from, ZMTPMessage message) {
        handler.accept(from, message);
    }

    @Override
    public void closed() {}
}
