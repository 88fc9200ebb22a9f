package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPFlow;
import dev.zmtp.socket.ZMTPSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/** Sockets that are publishers and subscribers of {@link Flow}. */
public final class FlowRelay {

    private FlowRelay() {}

    /** Passes messages from socket to socket, and prints them at the end. */
    public static void main(String... args) {
        System.out.println("A relay between PUSH and PULL sockets in this process. Nothing to run beside it.");
        CompletableFuture<Void> end = new CompletableFuture<>();
        try (ZMTPSocket in = ZMTPSocket.of(PULL);
                ZMTPSocket out = ZMTPSocket.of(PUSH);
                ZMTPSocket source = ZMTPSocket.of(PUSH);
                ZMTPSocket sink = ZMTPSocket.of(PULL)) {
            source.connect(in.bind("inproc://relay-in").readyFuture().join().text());
            out.connect(sink.bind("inproc://relay-out").readyFuture().join().text());
            relay(in, out);
            ZMTPFlow.messages(sink).subscribe(new OneByOne(text -> {
                System.out.println(text);
                if (text.equals("end")) {
                    end.complete(null);
                }
            }));
            for (String text : new String[] {"hello", "world", "end"}) {
                source.sendOrDrop(ZMTPMessage.fromUTF8(text));
            }
            end.join();
        }
    }

    /** Takes messages as fast as the other socket sends them. */
    static void relay(ZMTPSocket in, ZMTPSocket out) {
        ZMTPFlow.messages(in).subscribe(ZMTPFlow.sender(out));
    }

    /** Requests a message when it has handled the previous message. */
    static final class OneByOne implements Flow.Subscriber<ZMTPMessage> {

        private final Consumer<String> onText;
        private Flow.Subscription subscription;

        OneByOne(Consumer<String> onText) {
            this.onText = onText;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            subscription.request(1);
        }

        @Override
        public void onNext(ZMTPMessage message) {
            onText.accept(message.frame(0).toString(UTF_8));
            message.release();
            subscription.request(1);
        }

        @Override
        public void onError(Throwable failure) {
            System.err.println("no more messages: " + failure);
        }

        @Override
        public void onComplete() {
            System.out.println("the socket is closed");
        }
    }
}
