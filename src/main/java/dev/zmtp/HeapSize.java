package dev.zmtp;

/** Size of arrays on the heap of a JVM with compressed references, including headers, references and alignment. */
final class HeapSize {

    private static final int ARRAY_HEADER = 16;
    private static final int ALIGNMENT = 8;

    private HeapSize() {}

    /** Returns the size of an array of {@code length} bytes. */
    static int ofBytes(int length) {
        return (ARRAY_HEADER + length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** Returns the size of an array of {@code length} references or ints. */
    static int ofReferences(int length) {
        return ofBytes(length * Integer.BYTES);
    }
}
