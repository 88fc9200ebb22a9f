package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.socket.context.SocketContext;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Sends and requests that wait in line. With these water marks each write makes the channel unwritable, and the flush
 * after it reports room from inside the write.
 */
class WaitingSendsTest {

    private static final int MESSAGES = 1_000;

    /** The codec hands a body of this size to the transport at once. */
    private static final String BODY = "x".repeat(10_000);

    private static ZMTPSocketConfig.Builder narrow(TestSockets sockets, ZMTPSocketType type) {
        return sockets.builder(type)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1, 2))
                .sendQueueLimit(1, 100_000)
                .maxWaitingSends(MESSAGES);
    }

    @Test
    void eachSendInLineLeavesOnceAndInOrder(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPSocket push = sockets.open(narrow(sockets, PUSH));
        String endpoint = bind(pull, "tcp://127.0.0.1:*");
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            sent.add(push.sendAsync(message(String.valueOf(i), BODY)));
        }

        push.connect(endpoint);

        sent.forEach(TestSockets::get);
        for (int i = 0; i < MESSAGES; i++) {
            assertThat(TestSockets.receive(pull)).containsExactly(String.valueOf(i), BODY);
        }
    }

    @Test
    void eachRequestThatWaitsIsAsked(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        ZMTPSocket dealer = sockets.open(narrow(sockets, DEALER).sendQueueLimit(MESSAGES, 100 << 20));
        dealer.connect(bind(rep, "tcp://127.0.0.1:*"));
        List<CompletableFuture<ZMTPMessage>> answers = IntStream.range(0, MESSAGES)
                .mapToObj(i -> dealer.requestAsync(message(String.valueOf(i), BODY), Duration.ofSeconds(30)))
                .toList();

        for (int i = 0; i < MESSAGES; i++) {
            assertThat(frames(get(answers.get(i)))).containsExactly(String.valueOf(i), BODY);
        }
    }

    @Test
    void oneForWhichThereIsNoMemoryIsTold() {
        SocketContext context = mock();
        when(context.messageAges()).thenThrow(new OutOfMemoryError("test"));
        WaitingSends sends = new WaitingSends(context, () -> true, Sent::arrive, send -> false, () -> {}, () -> {});
        InLine thread = mock();

        sends.join(thread);

        verify(thread).noMemory();
        assertThat(sends.isEmpty()).isTrue();
    }
}
