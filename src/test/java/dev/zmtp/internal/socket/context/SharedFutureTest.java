package dev.zmtp.internal.socket.context;

import static dev.zmtp.ZMTPSocketType.PULL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.TestSockets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A future that several callers get. */
class SharedFutureTest {

    private final SharedFuture<String> future = new SharedFuture<>();

    @Test
    void itsCallersDoNotCompleteIt() {
        assertThat(future.complete("theirs")).isFalse();
        assertThat(future.completeExceptionally(new IllegalStateException())).isFalse();
        assertThat(future.cancel(true)).isFalse();
        assertThatThrownBy(() -> future.obtrudeValue("theirs")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> future.obtrudeException(new IllegalStateException()))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(future).isNotDone();

        future.succeed("ours");

        assertThat(future).isCompletedWithValue("ours");
    }

    @Test
    void itFails() {
        future.fail(new IllegalStateException("ours"));

        assertThat(future).isCompletedExceptionally();
    }

    @Test
    void aLimitOfItsTimeIsThatOfACaller() {
        CompletableFuture<String> late = future.orTimeout(1, TimeUnit.MILLISECONDS);
        CompletableFuture<String> otherwise = future.completeOnTimeout("otherwise", 1, TimeUnit.MILLISECONDS);
        CompletableFuture<String> computed = future.completeAsync(() -> "computed");

        assertThat(late).failsWithin(TestSockets.PATIENCE);
        assertThat(otherwise).succeedsWithin(TestSockets.PATIENCE).isEqualTo("otherwise");
        assertThat(computed).succeedsWithin(TestSockets.PATIENCE).isEqualTo("computed");
        assertThat(future).isNotDone();
    }

    /** Such as those of a loop that receives until the socket is closed. */
    @Test
    void manyLooksAtAnEndKeepNothing(TestSockets sockets) {
        ZMTPSocket pull = sockets.open(PULL);
        ZMTPEndpoint endpoint = pull.connect("inproc://never");
        CompletableFuture<ZMTPStats> closed = pull.closeFuture();
        CompletableFuture<ZMTPEndpoint> ready = endpoint.readyFuture();

        for (int i = 0; i < 1_000; i++) {
            assertThat(pull.closeFuture().isDone()).isFalse();
            assertThat(endpoint.readyFuture().isDone()).isFalse();
        }

        assertThat(closed.getNumberOfDependents()).isZero();
        assertThat(ready.getNumberOfDependents()).isZero();
        assertThat(pull.closeFuture()).isSameAs(closed);
        assertThat(endpoint.readyFuture()).isSameAs(ready);
    }
}
