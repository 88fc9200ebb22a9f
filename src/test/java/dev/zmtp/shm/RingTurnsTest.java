package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

class RingTurnsTest {

    @Test
    void aTurnThatTheLoopHasNotTakenIsQueuedAgain() {
        EventLoop loop = mock(EventLoop.class);
        Channel channel = mock(Channel.class);
        when(channel.eventLoop()).thenReturn(loop);
        OutOfMemoryError error = new OutOfMemoryError("no memory today");
        doThrow(error).doNothing().when(loop).execute(any());
        RingTurns turns = new RingTurns(channel, () -> {});

        assertThatThrownBy(turns::queue).isSameAs(error);
        turns.queue();
        turns.queue(); // which is queued already

        verify(loop, times(2)).execute(any());
    }

    /** Nothing else would ask for it. */
    @Test
    void aTurnThatTheLoopDoesNotTakeAfterAPauseRunsAtOnce() {
        SingleThreadEventLoop loop = mock(SingleThreadEventLoop.class);
        Channel channel = mock(Channel.class);
        when(channel.eventLoop()).thenReturn(loop);
        doThrow(new OutOfMemoryError("no memory today")).when(loop).execute(any());
        AtomicInteger ran = new AtomicInteger();
        RingTurns turns = new RingTurns(channel, ran::incrementAndGet);
        do {
            turns.begin();
        } while (turns.sinceMoved() < TimeUnit.MILLISECONDS.toNanos(1)); // an idle channel
        turns.queue();
        ArgumentCaptor<Runnable> afterPause = ArgumentCaptor.forClass(Runnable.class);
        verify(loop).executeAfterEventLoopIteration(afterPause.capture());

        afterPause.getValue().run();

        assertThat(ran).hasValue(1);
    }
}
