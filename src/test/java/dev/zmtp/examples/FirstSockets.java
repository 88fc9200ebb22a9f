package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;

/** A server that echoes, and a client that asks it. */
public final class FirstSockets {

    private FirstSockets() {}

    /** Asks once, and prints the answer. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("REP and REQ sockets in this process. Nothing to run beside it.");
        ZMTPSocket server = ZMTPSocket.of(REP);
        server.serve(request -> request.reply(request.message()));
        String endpoint = server.bind("tcp://127.0.0.1:*").sync().text(); // any free port

        ZMTPSocket client = ZMTPSocket.of(REQ);
        client.connect(endpoint); // now, and again whenever the connection ends
        ZMTPMessage answer = client.request(ZMTPMessage.fromUTF8("hello"), Duration.ofSeconds(5));
        System.out.println(answer.frameUTF8(0));
        answer.release();

        client.close();
        server.close();
    }
}
