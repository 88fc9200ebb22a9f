package dev.zmtp.fuzz;

/** Reported to the fuzzer: the library broke a promise. */
final class FuzzFailure extends AssertionError {

    private static final long serialVersionUID = 1L;

    FuzzFailure(String message) {
        super(message);
    }

    FuzzFailure(String message, Throwable cause) {
        super(message, cause);
    }

    /** Fails with {@code message} and {@code value} unless {@code promise} is kept. */
    static void unless(boolean promise, String message, Object value) {
        if (!promise) {
            throw new FuzzFailure(message + ": " + value);
        }
    }

    /** Fails unless the two are equal. */
    static void unlessEqual(Object actual, Object expected, String what) {
        if (!actual.equals(expected)) {
            throw new FuzzFailure(what + ": " + actual + " (expected: " + expected + ")");
        }
    }
}
