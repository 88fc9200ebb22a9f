package dev.zmtp.shm;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RingUseTest {

    private final RingPair rings = mock(RingPair.class);
    private final RingUse use = new RingUse(mock(BlockingBell.class), rings);

    @Test
    void theLastThreadToLeaveASocketThatIsClosedGivesTheMemoryBack() throws Exception {
        use.reading().lock();
        CompletableFuture.runAsync(use::releaseIfOver).get(10, TimeUnit.SECONDS); // who closes it
        verify(rings, never()).close();
        use.leave(use.reading());
        verify(rings).close();
    }
}
