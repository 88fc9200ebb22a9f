package dev.zmtp.security;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Functions of libsodium that CURVE needs. They access native memory without checks, so each address and length must
 * have been checked. The two implementations differ only in the way they call libsodium.
 */
interface LibsodiumFunctions {

    /**
     * Library names on Linux and other Unixes, macOS and Windows. For each system, names with an interface version come
     * first, the newest version at the head.
     */
    List<String> NAMES = List.of(
            "libsodium.so.26",
            "libsodium.so.23",
            "libsodium.so",
            "libsodium.26.dylib",
            "libsodium.23.dylib",
            "libsodium.dylib",
            "libsodium.dll");

    /** Selects the code for this processor. Must be called first. Returns a negative number on failure. */
    int init();

    /** Returns the version of the library, for the log. */
    String version();

    /** Returns the address of a direct buffer, which is valid as long as the buffer is reachable. */
    long address(ByteBuffer buffer);

    /**
     * X25519 that computes {@code result} from {@code secret} and {@code point}, 32 bytes each. Returns -1 for a point
     * of low order.
     */
    int multiply(long result, long secret, long point);

    /** X25519 with the base point. */
    void multiplyBase(long result, long secret);

    /** HSalsa20 that computes 32 bytes of {@code result} from 16 bytes of {@code in} and a key of 32 bytes. */
    void derive(long result, long in, long key);

    /**
     * Encrypts or decrypts {@code length} bytes with Salsa20, starting at the block of this number. {@code result} and
     * {@code in} can be the same.
     */
    void crypt(long result, long in, long length, long nonce, long block, long key);

    /** Writes the 16 bytes of the Poly1305 MAC of {@code length} bytes. */
    void poly1305(long mac, long data, long length, long key);

    /** Returns the length of the Poly1305 state, in bytes. */
    long poly1305Length();

    /** Begins a MAC. The address of the state must be a multiple of 64. */
    void poly1305Init(long state, long key);

    /** Adds {@code length} bytes to a MAC. */
    void poly1305Update(long state, long data, long length);

    /** Writes the 16 bytes of a MAC, and wipes the state. */
    void poly1305Final(long state, long mac);
}
