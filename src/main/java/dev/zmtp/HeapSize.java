package dev.zmtp;

/** The size of arrays on the heap of a JVM with compressed references: headers, references and alignment included. */
final class HeapSize {

    private static final int ARRAY_HEADER = 16;
    private static final int ALIGNMENT = 8;

    private HeapSize() {}

    /** The bytes of an array of {@code length} bytes. */
    static int ofBytes(int length) {
        return (ARRAY_HEADER + length + ALIGNMENT - 1) & -ALIGNMENT;
    }

    /** The bytes of an array of {@code length} references, or ints. */
    static int ofReferences(int length) {
        return ofBytes(length * Integer.BYTES);
    }
}
