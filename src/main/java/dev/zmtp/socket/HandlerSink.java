package dev.zmtp.socket;

import dev.zmtp.ZMTPMessage;

/** Passes a socket's messages to a handler. */
final class HandlerSink implements Inbox.Sink {

    private final SocketCore core;
    private final ZMTPSocket.MessageHandler handler;

    HandlerSink(SocketCore core, ZMTPSocket.MessageHandler handler) {
        this.core = core;
        this.handler = handler;
    }

    @Override
    public boolean wants() {
        return true;
    }

    @Override
    public void take(ZMTPPeer from, ZMTPMessage message) {
        handler.message(from, core.present(from, message));
    }

    @Override
    public void closed() {}
}
