package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketException;
import java.io.PrintStream;
import java.time.Duration;

/** The first programs of ZeroMQ's guide. Each method is the whole of a {@code main}. */
public final class Tutorial {

    private Tutorial() {}

    /** Runs the program that the first argument names, at the endpoint that is the second. */
    public static void main(String... args) throws InterruptedException {
        switch (args.length == 2 ? args[0] : "") {
            case "hello-server" -> helloServer(args[1], System.out);
            case "hello-client" -> helloClient(args[1], System.out);
            case "lazy-pirate" -> lazyPirate(args[1], Duration.ofMillis(2_500), System.out);
            case "echo" -> echo(args[1]);
            default ->
                System.err.println("usage: mvn -q test-compile exec:java@example -Dexample=Tutorial"
                        + " -Dexec.args=\"hello-server|hello-client|lazy-pirate|echo tcp://127.0.0.1:5555\"");
        }
    }

    static void helloServer(String endpoint, PrintStream out) throws InterruptedException {
        try (ZMTPSocket rep = ZMTPSocket.of(REP)) {
            rep.bind(endpoint).sync();
            rep.serve(request -> {
                out.println(request.message().frameUTF8(0));
                request.reply(ZMTPMessage.fromUTF8("World")); // releases the request
            });
            rep.closeFuture().join(); // its threads are daemons
        }
    }

    static void helloClient(String endpoint, PrintStream out) throws InterruptedException {
        try (ZMTPSocket req = ZMTPSocket.of(REQ)) {
            req.connect(endpoint); // the server need not be there yet
            for (int i = 0; i < 10; i++) {
                ZMTPMessage answer = req.request(ZMTPMessage.fromUTF8("Hello"), Duration.ofSeconds(5));
                out.println(answer.frameUTF8(0));
                answer.release();
            }
        }
    }

    static void lazyPirate(String endpoint, Duration timeout, PrintStream out) throws InterruptedException {
        try (ZMTPSocket req = ZMTPSocket.of(REQ)) {
            req.connect(endpoint);
            for (int left = 2; left >= 0; left--) {
                try {
                    ZMTPMessage answer = req.request(ZMTPMessage.fromUTF8("Hello"), timeout);
                    out.println(answer.frameUTF8(0));
                    answer.release();
                    return;
                } catch (ZMTPSocketException e) { // a new connection is made, as a late answer would disturb
                    out.println(e.reason() + ", attempts left: " + left);
                }
            }
        }
    }

    static void echo(String endpoint) throws InterruptedException {
        try (ZMTPSocket router = ZMTPSocket.of(ROUTER)) {
            router.bind(endpoint).sync();
            router.onMessage((peer, message) -> peer.sendOrDrop(message)); // which takes the message over
            router.closeFuture().join();
        }
    }
}
