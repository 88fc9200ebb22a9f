package example;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPFlow;
import dev.zmtp.socket.ZMTPSocket;
import java.time.Duration;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sockets with Reactor. */
final class Reactive {

    private Reactive() {}

    /** Sends a request for each subscription. A cancellation of the subscription cancels the request. */
    static Mono<String> ask(ZMTPSocket socket, String question) {
        return Mono.fromFuture(() -> socket.requestAsync(ZMTPMessage.fromUTF8(question), Duration.ofSeconds(5)))
                .map(Reactive::take)
                .doOnDiscard(ZMTPMessage.class, ZMTPMessage::release);
    }

    /** Receives messages as fast as the subscriber takes them. */
    static Flux<String> texts(ZMTPSocket socket) {
        return JdkFlowAdapter.flowPublisherToFlux(ZMTPFlow.messages(socket)).map(Reactive::take);
    }

    /** Converts a message and releases it, so that no operator that follows holds a message. */
    private static String take(ZMTPMessage message) {
        try {
            return message.frameUTF8(0);
        } finally {
            message.release();
        }
    }
}
