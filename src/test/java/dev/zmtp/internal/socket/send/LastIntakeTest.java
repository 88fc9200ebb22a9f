package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.PUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.Turns;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Messages of other threads that come while an endpoint leaves. */
@Tag("netty-4.2-only")
class LastIntakeTest {

    private static final int MESSAGES = 4_000;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket pub = loop.open(ZMTPSocketConfig.builder(PUB));
    private int sent;

    @AfterEach
    void close() {
        loop.close();
    }

    /** Sends a message whose release sends the next, each from another thread. */
    private void send() {
        if (sent < MESSAGES) {
            sent++;
            CompletableFuture.runAsync(() -> pub.sendOrDrop(ZMTPMessage.from(new SendsTheNext())))
                    .join();
        }
    }

    private final class SendsTheNext extends UnpooledHeapByteBuf {

        SendsTheNext() {
            super(UnpooledByteBufAllocator.DEFAULT, 8, 8);
        }

        @Override
        protected void deallocate() {
            super.deallocate();
            send();
        }
    }

    @Test
    void aThreadThatGoesOnSendingDoesNotHoldTheLoopOfAnEndpointThatCloses() {
        ZMTPEndpoint endpoint = pub.connect("inproc://nobody");
        loop.run();
        Turns turns = Turns.of(loop.eventLoop(), () -> sent);
        send();

        endpoint.close();
        loop.run();

        assertThat(sent).isEqualTo(MESSAGES);
        assertThat(turns.most()).as("two tasks, in which the loop reads").isLessThanOrEqualTo(2 * 1_024 + 1);
    }
}
