package dev.zmtp.internal.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Which promises fail with the write of their buffer. */
class WritePromisesTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final WritePromises promises = new WritePromises();
    private final IOException cause = new IOException("broken");

    private ChannelPromise added() {
        ChannelPromise promise = channel.newPromise();
        promises.add(promise);
        return promise;
    }

    private List<ChannelPromise> taken() {
        return Objects.requireNonNull(promises.take());
    }

    @Test
    void onlyThePromisesOfTheFailedBufferFail() {
        ChannelPromise first = added();
        List<ChannelPromise> failed = taken();
        ChannelPromise second = added();
        promises.putBack(failed);

        promises.failAgain(failed, cause);

        assertThat(first.cause()).isSameAs(cause);
        assertThat(second.isDone()).isFalse();
        assertThat(promises.take()).containsExactly(second);
    }

    /** A handler that is told of the failure can write and flush before the promises fail. */
    @Test
    void thePromisesOfTheFailedBufferFailThoughTheyWereTakenWithLaterOnes() {
        ChannelPromise first = added();
        ChannelPromise second = added();
        List<ChannelPromise> failed = taken();
        promises.putBack(failed);
        ChannelPromise third = added();
        assertThat(taken()).containsExactly(first, second, third);
        ChannelPromise fourth = added();

        promises.failAgain(failed, cause);

        assertThat(first.cause()).isSameAs(cause);
        assertThat(second.cause()).isSameAs(cause);
        assertThat(third.isDone()).isFalse();
        assertThat(fourth.isDone()).isFalse();
        assertThat(promises.take()).containsExactly(fourth);
    }
}
