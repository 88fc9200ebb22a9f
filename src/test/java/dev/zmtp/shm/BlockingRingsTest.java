package dev.zmtp.shm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Otherwise bytes could be missing, or a thread of the other side could sleep for ever. */
class BlockingRingsTest {

    private final OutOfMemoryError error = new OutOfMemoryError("no memory today");
    private final BlockingBell bell = mock(BlockingBell.class);
    private final SharedMemoryReader reader = mock(SharedMemoryReader.class);
    private final SharedMemoryWriter writer = mock(SharedMemoryWriter.class);
    private BlockingRings rings;

    @BeforeEach
    void join() {
        RingPair pair = mock(RingPair.class);
        when(pair.reader()).thenReturn(reader);
        when(pair.writer()).thenReturn(writer);
        rings = new BlockingRings(bell, pair);
    }

    @Test
    void anErrorOfAReadEndsTheConnection() throws Exception {
        when(reader.available()).thenReturn(1);
        when(reader.take(any(ByteBuffer.class))).thenReturn(1);
        when(reader.release()).thenThrow(error);
        InputStream input = new RingInputStream(rings);
        assertThatThrownBy(input::read).isSameAs(error);
        verify(bell).close();
    }

    @Test
    void anErrorOfALookAtTheInputEndsTheConnection() throws Exception {
        when(reader.available()).thenThrow(error);
        InputStream input = new RingInputStream(rings);
        assertThatThrownBy(input::available).isSameAs(error);
        verify(bell).close();
    }

    @Test
    void anErrorOfAFlushEndsTheConnection() throws Exception {
        when(writer.flush()).thenThrow(error);
        OutputStream output = new RingOutputStream(rings);
        assertThatThrownBy(output::flush).isSameAs(error);
        verify(bell).close();
    }
}
