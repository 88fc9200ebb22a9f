package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;

/** Two threads with a PAIR each, within one process. Messages pass by reference. */
public final class TwoThreads {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private TwoThreads() {}

    /** Counts down on one thread, from what the other one says. */
    public static void main(String... args) throws InterruptedException {
        System.out.println("PAIR sockets on two threads of this process. Nothing to run beside it.");
        try (ZMTPSocket left = ZMTPSocket.of(PAIR);
                ZMTPSocket right = ZMTPSocket.of(PAIR)) {
            left.connect("inproc://counting"); // before or after the other one binds
            right.bind("inproc://counting").sync();
            Thread thread = new Thread(() -> echo(right));
            thread.start();
            System.out.println(ask(left, "3, 2, 1"));
            right.closeAsync(Duration.ZERO); // ends the other thread's receive
            thread.join();
        }
    }

    static String ask(ZMTPSocket socket, String text) throws InterruptedException {
        socket.send(ZMTPMessage.fromUTF8(text));
        ZMTPMessage answer = socket.receive(PATIENCE);
        try {
            return answer.frame(0).toString(UTF_8);
        } finally {
            answer.release();
        }
    }

    /** Sends back what it gets until the socket is closed. */
    static void echo(ZMTPSocket socket) {
        try {
            while (true) {
                socket.sendOrDrop(socket.receive());
            }
        } catch (ZMTPSocketException closed) {
            System.out.println(closed.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
