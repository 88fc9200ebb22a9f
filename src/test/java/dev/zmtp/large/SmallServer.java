package dev.zmtp.large;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;

/** The program of a server with all defaults that sends each message back. It prints its endpoint. */
@SuppressWarnings("SystemOut") // its parent reads it
final class SmallServer {

    private SmallServer() {}

    public static void main(String... args) throws InterruptedException {
        ZMTPSocket server = ZMTPSocket.of(ZMTPSocketType.ROUTER);
        server.onMessage((peer, message) -> peer.sendOrDrop(message));
        System.out.println(server.bind("tcp://127.0.0.1:*").sync().text());
        Thread.currentThread().join();
    }
}
