package dev.zmtp.shm;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The use of memory that is not there any more, as the other side has cut the file short. HotSpot lets the access
 * return anything, and delivers an {@code InternalError} with it or at the thread's next call from Java into the VM.
 * That might be one in a program's own code, one that ends the event loop or, inside a {@code Cleaner}, the process. So
 * the ends of a ring provoke it where it may be expected, and throw an {@code IOException} in its place.
 */
final class MemoryFault {

    /** Not final, or the compilers would make the array themselves. */
    private static int one = 1;

    @SuppressWarnings("unused") // or they would make none
    private static volatile byte @Nullable [][] provoked;

    private MemoryFault() {}

    /**
     * Fails if this thread has used memory that is not there. To make an array of arrays whose length is no constant is
     * a call into the VM, on all levels of compilation.
     */
    static void check() throws IOException {
        try {
            provoked = new byte[one][one];
        } catch (InternalError e) {
            throw cutShort(e);
        }
    }

    /** Returns what {@code failure} comes from: the fault, if there was one, as what was read then was anything. */
    static Throwable causeOf(Throwable failure) {
        try {
            check();
        } catch (IOException e) {
            return e;
        }
        return failure instanceof InternalError error ? cutShort(error) : failure;
    }

    /** What the JVM's error means. */
    static IOException cutShort(InternalError e) {
        return new IOException("shared memory: the file was cut short", e);
    }
}
