package dev.zmtp.security;

import io.netty.buffer.ByteBuf;

/**
 * Salsa20 and Poly1305 under one key, for one box after the other. What it is asked has been checked: {@link SecretBox}
 * knows the order of these calls. Not thread safe.
 *
 * <p>A box can be worked on in several parts, maybe on several threads: {@link #begin}, then {@link #pause} and
 * {@link #resume} around whatever else the thread does, and {@link #end}.
 */
interface BoxCipher {

    /** Begins a box with this nonce. The first half of its first block is the key of the MAC. */
    void begin(long nonce);

    /** Interrupts the work on a box. */
    default void pause() {}

    /** Goes on with the box at which {@link #pause} has stopped. */
    default void resume() {}

    /** Encrypts or decrypts the bytes of a box from {@code from} to {@code to}. A block begins at {@code from}. */
    void crypt(ByteBuf data, int index, int from, int to);

    /** Adds bytes to the MAC. */
    void authenticate(ByteBuf data, int index, int length);

    /** Writes the MAC of what was added. Nothing can be added after that. */
    void mac(byte[] mac);

    /** Ends the work on a box, at any point. */
    default void end() {}

    /** Wipes the key, and what is kept of a box. */
    void wipe();
}
