package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A DEALER with any number of questions at a time, which outlives its server and asks again what it may ask twice. */
public final class AskingClient implements AutoCloseable {

    private static final int ATTEMPTS = 3;

    private final ZMTPSocket dealer;
    private final Duration timeout;

    AskingClient(String endpoint, Duration timeout) {
        this.timeout = timeout;
        this.dealer = ZMTPSocket.of(ZMTPSocketConfig.builder(DEALER)
                .reconnectDelay(Duration.ofMillis(50), Duration.ofSeconds(5))
                .codec(c -> c.heartbeatInterval(Duration.ofSeconds(5)).heartbeatTimeout(Duration.ofSeconds(8)))
                .build());
        dealer.connect(endpoint); // the server need not be there
    }

    /** Asks a server on port 5555 ({@link RoutingServer}) ten questions at once. */
    public static void main(String... args) {
        System.out.println("DEALER socket to 127.0.0.1:5555, asks ten questions at once."
                + " Run beside it: mvn -q test-compile exec:java@example -Dexample=RoutingServer");
        try (AskingClient client = new AskingClient("tcp://127.0.0.1:5555", Duration.ofSeconds(5))) {
            CompletableFuture<?>[] answers = new CompletableFuture<?>[10];
            for (int i = 0; i < answers.length; i++) {
                answers[i] = client.ask("question " + i)
                        .handle((answer, failure) -> answer != null ? answer : "no answer: " + failure)
                        .thenAccept(System.out::println);
            }
            CompletableFuture.allOf(answers).join();
        }
    }

    /** Returns the answer; fails if there is none after three attempts. The question may be asked twice. */
    CompletableFuture<String> ask(String question) {
        return ask(question, ATTEMPTS);
    }

    private CompletableFuture<String> ask(String question, int attempts) {
        return dealer.requestAsync(ZMTPMessage.fromUTF8(question), timeout)
                .thenApply(AskingClient::text)
                .exceptionallyCompose(failure -> attempts > 1 && mayHelp(failure)
                        ? ask(question, attempts - 1) // waits until the connection is back
                        : CompletableFuture.failedFuture(failure));
    }

    private static boolean mayHelp(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        return cause instanceof ZMTPSocketException e && (e.reason() == PEER_DOWN || e.reason() == TIMEOUT);
    }

    private static String text(ZMTPMessage answer) {
        try {
            return answer.frame(0).toString(UTF_8);
        } finally {
            answer.release();
        }
    }

    /** Questions that have no answer yet fail. */
    @Override
    public void close() {
        dealer.close();
    }
}
