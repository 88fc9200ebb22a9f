package dev.zmtp.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import org.junit.jupiter.api.Test;

/** A method of channels that is found by its name. */
class TransportMethodTest {

    /** The class of what it returns. */
    public record Answer(int number) {}

    /** A channel that has it. */
    public static final class Able extends EmbeddedChannel {
        private boolean closed;

        public Answer answer() throws IOException {
            if (closed) {
                throw new IOException("closed");
            }
            return new Answer(42);
        }
    }

    private final TransportMethod method = new TransportMethod("answer");

    @Test
    void itReturnsWhatTheChannelDoes() throws ReflectiveOperationException {
        Object answer = method.call(new Able());

        assertThat(answer).isEqualTo(new Answer(42));
        assertThat(TransportMethod.value(answer, "number")).isEqualTo(42);
    }

    @Test
    void aChannelWithoutItReturnsNothing() throws ReflectiveOperationException {
        assertThat(method.call(new EmbeddedChannel())).isNull();
    }

    @Test
    void aFailureIsThatOfTheChannel() {
        Able closed = new Able();
        closed.closed = true;

        assertThatExceptionOfType(InvocationTargetException.class)
                .isThrownBy(() -> method.call(closed))
                .withCauseInstanceOf(IOException.class);
    }
}
