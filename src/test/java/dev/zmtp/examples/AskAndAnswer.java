package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;

/** A REQ and a REP that send and receive in turn, each on a thread that may wait. */
public final class AskAndAnswer {

    private AskAndAnswer() {}

    /** Asks three times. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("REQ and REP sockets in this process. Nothing to run beside it.");
        try (ZMTPSocket server = ZMTPSocket.of(REP);
                ZMTPSocket client = ZMTPSocket.of(REQ)) {
            String endpoint =
                    server.bind("tcp://127.0.0.1:*").readyFuture().join().text();
            client.connect(endpoint);
            Thread answering = new Thread(() -> answer(server, 3));
            answering.start();
            for (String name : new String[] {"Ada", "Grace", "Edith"}) {
                System.out.println(ask(client, name));
            }
            answering.join();
        }
    }

    static void answer(ZMTPSocket server, int questions) {
        try {
            for (int i = 0; i < questions; i++) {
                String name = text(server.receive());
                server.sendOrDrop(ZMTPMessage.fromUTF8("Hello, " + name)); // dropped if the client has left
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until a server is there and has answered. A ZMTPSocketException says that it has gone in between. */
    static String ask(ZMTPSocket client, String name) throws InterruptedException {
        client.send(ZMTPMessage.fromUTF8(name));
        return text(client.receive());
    }

    private static String text(ZMTPMessage message) {
        try {
            return message.frame(0).toString(UTF_8);
        } finally {
            message.release();
        }
    }
}
