package dev.zmtp.bench;

/** When an application flushes what it wrote. */
public enum FlushPolicy {
    /** By hand, after each batch of writes. */
    BATCH,
    /** After each message. */
    MESSAGE,
    /** At the end of each read. */
    READ,
    /** When a {@code BatchFlusher} does, called in the event loop. */
    FLUSHER,
    /** When a {@code BatchFlusher} does, called by another thread, which writes. */
    FLUSHER_OUTSIDE
}
