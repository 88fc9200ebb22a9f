package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;

/** A server that echoes, and a client that asks it. */
public final class FirstSockets {

    private FirstSockets() {}

    /** Asks once, and prints the answer. */
    public static void main(String... args) {
        System.out.println("ROUTER and DEALER sockets in this process. Nothing to run beside it.");
        ZMTPSocket server = ZMTPSocket.of(ROUTER);
        server.serve(request -> request.reply(request.message()));
        String endpoint = server.bind("tcp://127.0.0.1:*").ready().join().text(); // any free port

        ZMTPSocket client = ZMTPSocket.of(DEALER);
        client.connect(endpoint); // and again, whenever the connection ends
        client.requestAsync(ZMTPMessage.fromUTF8("hello"), Duration.ofSeconds(5))
                .thenAccept(answer -> {
                    System.out.println(answer);
                    answer.release();
                })
                .join();

        client.close();
        server.close();
    }
}
