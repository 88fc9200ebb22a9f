package dev.zmtp.shm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two threads meet at a ring, millions of times: one falls asleep while the other does what it waits for. The first
 * result is whether the second one wakes somebody, and the second whether the first one sleeps.
 */
public final class RingSleepStress {

    private static final int CAPACITY = 64;

    private RingSleepStress() {}

    /** A ring in memory of its own, into which one byte was written. */
    private static class Ends {
        final ByteBuffer memory = ByteBuffer.allocateDirect(Ring.size(CAPACITY)).order(ByteOrder.nativeOrder());
        final SharedMemoryWriter writer = new SharedMemoryWriter(new Ring(memory));
        final SharedMemoryReader reader = new SharedMemoryReader(new Ring(memory));

        final void write(int length) {
            try {
                writer.write(ByteBuffer.allocate(length));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The writer flushes a byte while the reader falls asleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "The reader sleeps and is woken.")
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "The reader sees the byte.")
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The reader sees the byte, and is woken in vain.")
    @Outcome(id = "false, true", expect = Expect.FORBIDDEN, desc = "The reader sleeps, and nobody wakes it.")
    @State
    public static class Reader extends Ends {

        public Reader() {
            write(1);
        }

        @Actor
        public void flush(ZZ_Result result) {
            try {
                result.r1 = writer.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Actor
        public void sleep(ZZ_Result result) {
            try {
                result.r2 = reader.beforeSleep();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The reader makes room in a full ring while the writer falls asleep. */
    @JCStressTest
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "The writer sleeps and is woken.")
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "The writer sees the room.")
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "The writer sees the room, and is woken in vain.")
    @Outcome(id = "false, true", expect = Expect.FORBIDDEN, desc = "The writer sleeps, and nobody wakes it.")
    @State
    public static class Writer extends Ends {

        public Writer() {
            write(CAPACITY);
            try {
                writer.flush();
                reader.read(ByteBuffer.allocate(CAPACITY));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Actor
        public void release(ZZ_Result result) {
            try {
                result.r1 = reader.release();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Actor
        public void sleep(ZZ_Result result) {
            try {
                result.r2 = writer.beforeSleep();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
