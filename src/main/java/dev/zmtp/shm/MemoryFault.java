package dev.zmtp.shm;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Access to memory that no longer exists because the other side has truncated the file. HotSpot allows the access to
 * return any value, and delivers an {@code InternalError} with it or at the thread's next call from Java into the VM.
 * That call could be in a program's own code, and the error could end the event loop or, inside a {@code Cleaner}, the
 * process. The ends of a ring therefore provoke the error at a safe point, and throw an {@code IOException} instead.
 */
final class MemoryFault {

    /** Array length that is not final, because compilers would otherwise create the array without a call. */
    private static int one = 1;

    @SuppressWarnings("unused") // or they would make none
    private static volatile byte @Nullable [][] provoked;

    private MemoryFault() {}

    /**
     * Fails if this thread has accessed missing memory. Creating an array of arrays with a variable length calls into
     * the VM on all levels of compilation.
     */
    static void check() throws IOException {
        try {
            provoked = new byte[one][one];
        } catch (InternalError e) {
            throw cutShort(e);
        }
    }

    /**
     * Returns the fault as the cause of {@code failure} if there was a fault, because the data read then was arbitrary.
     */
    static Throwable causeOf(Throwable failure) {
        try {
            check();
        } catch (IOException e) {
            return e;
        }
        return failure instanceof InternalError error ? cutShort(error) : failure;
    }

    /** Returns the exception for the JVM's error. */
    static IOException cutShort(InternalError e) {
        return new IOException("shared memory: the file was cut short", e);
    }
}
