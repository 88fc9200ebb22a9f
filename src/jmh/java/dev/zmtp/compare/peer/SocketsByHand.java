package dev.zmtp.compare.peer;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.channel.EventLoop;

/** Requests from a DEALER to a ROUTER that sends them back, in the way that other libraries have: {@link View#HAND}. */
final class SocketsByHand extends SocketTraffic {

    SocketsByHand(Program program, EventLoop loop, Counter messages) {
        super(program, loop, messages);
    }

    @Override
    void ask(ZMTPSocket socket, ZMTPMessage request) {
        socket.onMessage((from, answer) -> {
            answer.release();
            messages.add(1);
            socket.sendOrDrop(request.retain());
        });
        loop.execute(() -> {
            for (int i = 0; i < arguments.outstanding(); i++) {
                socket.sendOrDrop(request.retain());
            }
        });
    }

    @Override
    void serve(ZMTPSocket socket) {
        socket.onMessage((from, request) -> {
            messages.add(1);
            from.sendOrDrop(request);
        });
    }
}
