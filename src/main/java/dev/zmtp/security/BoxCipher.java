package dev.zmtp.security;

import io.netty.buffer.ByteBuf;

/**
 * Salsa20 and Poly1305 under a single key, for consecutive boxes. Arguments are already checked, and {@link SecretBox}
 * determines the order of the calls. Not thread safe.
 *
 * <p>A box can be processed in several parts, possibly on several threads. {@link #begin} starts it, {@link #pause} and
 * {@link #resume} enclose the thread's other work, and {@link #end} ends it.
 */
interface BoxCipher {

    /** Begins a box with this nonce. The first half of its first block is the key of the MAC. */
    void begin(long nonce);

    /**
     * Begins a box whose bytes are all in {@code data}. The following calls concern all of these bytes at once, so a
     * library can compute the results in advance.
     */
    default void begin(long nonce, ByteBuf data, int index, int length) {
        begin(nonce);
    }

    /** Suspends the work on a box. */
    default void pause() {}

    /** Resumes the work on the box that {@link #pause} has suspended. */
    default void resume() {}

    /** Encrypts or decrypts the bytes of a box from {@code from} to {@code to}. A block begins at {@code from}. */
    void crypt(ByteBuf data, int index, int from, int to);

    /** Adds bytes to the MAC. */
    void authenticate(ByteBuf data, int index, int length);

    /** Writes the MAC of the added bytes. Nothing can be added afterwards. */
    void mac(byte[] mac);

    /** Ends the work on a box, at any point, also after a failed {@link #begin}. */
    default void end() {}

    /** Wipes the key and the retained state of a box. */
    void wipe();
}
