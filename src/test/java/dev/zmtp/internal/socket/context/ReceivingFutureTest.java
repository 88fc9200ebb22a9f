package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A receive that its caller completes takes no message. */
@Tag("netty-4.2-only")
class ReceivingFutureTest {

    @SuppressWarnings("ImmutableEnumChecker") // the lambdas have no state
    private enum Way {
        CANCEL(receive -> receive.cancel(false)),
        COMPLETE(receive -> receive.complete(null)),
        COMPLETE_EXCEPTIONALLY(receive -> receive.completeExceptionally(new IllegalStateException("of the test"))),
        COMPLETE_ASYNC(receive -> receive.completeAsync(() -> null, Runnable::run)),
        COMPLETE_ASYNC_AND_FAIL(receive -> receive.completeAsync(
                () -> {
                    throw new IllegalStateException("of the test");
                },
                Runnable::run)),
        OBTRUDE_VALUE(receive -> receive.obtrudeValue(null)),
        OBTRUDE_EXCEPTION(receive -> receive.obtrudeException(new IllegalStateException("of the test")));

        private final Consumer<CompletableFuture<ZMTPMessage>> end;

        Way(Consumer<CompletableFuture<ZMTPMessage>> end) {
            this.end = end;
        }
    }

    private static final String ENDPOINT = "inproc://receiving";

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();

    @AfterEach
    void close() {
        loop.close();
    }

    private ZMTPSocket open(ZMTPSocketType type) {
        return loop.open(ZMTPSocketConfig.builder(type));
    }

    private void connect(ZMTPSocket binding, ZMTPSocket connecting) {
        binding.bind(ENDPOINT);
        connecting.connect(ENDPOINT);
        loop.run();
    }

    private void endsAndLeavesTheMessage(Way way, ZMTPSocket receiver, Runnable send) {
        CompletableFuture<ZMTPMessage> first = receiver.receiveAsync();
        way.end.accept(first);
        assertThat(first).isDone();
        send.run();
        loop.run();

        CompletableFuture<ZMTPMessage> next = receiver.receiveAsync();
        loop.run();

        assertThat(frames(get(next))).containsExactly("m");
    }

    @ParameterizedTest
    @EnumSource
    void anyTypeKeepsTheMessage(Way way) {
        ZMTPSocket receiver = open(PAIR);
        ZMTPSocket sender = open(PAIR);
        connect(receiver, sender);

        endsAndLeavesTheMessage(way, receiver, () -> sender.sendOrDrop(message("m")));
    }

    @ParameterizedTest
    @EnumSource
    void aRepKeepsTheRequest(Way way) {
        ZMTPSocket rep = open(REP);
        ZMTPSocket req = open(REQ);
        connect(rep, req);

        endsAndLeavesTheMessage(way, rep, () -> req.sendOrDrop(message("m")));
    }

    @ParameterizedTest
    @EnumSource
    void aReqKeepsTheAnswer(Way way) {
        ZMTPSocket rep = open(REP);
        ZMTPSocket req = open(REQ);
        connect(rep, req);
        req.sendOrDrop(message("question"));
        loop.run();
        frames(get(rep.receiveAsync()));

        endsAndLeavesTheMessage(way, req, () -> rep.sendOrDrop(message("m")));
    }
}
