package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import org.junit.jupiter.api.Test;

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
}
