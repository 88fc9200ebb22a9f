package dev.zmtp.security;

import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * Functions of libsodium that CURVE needs. They access native memory without checks, so each address and length must
 * have been checked. If the library cannot be used, each function throws an {@link UnsatisfiedLinkError}.
 */
final class LibsodiumFunctions {

    /**
     * Library names on Linux and other Unixes, macOS and Windows. For each system, names with an interface version come
     * first, the newest version at the head.
     */
    private static final List<String> NAMES = List.of(
            "libsodium.so.26",
            "libsodium.so.23",
            "libsodium.so",
            "libsodium.26.dylib",
            "libsodium.23.dylib",
            "libsodium.dylib",
            "libsodium.dll");

    private static final NativeLibrary LIBRARY = NativeLibrary.load(NAMES);

    // Constants, so that the JIT compiles the calls into their callers.
    private static final MethodHandle INIT = LIBRARY.function("sodium_init", int.class, 0);
    private static final MethodHandle VERSION = LIBRARY.function("sodium_version_string", long.class, 0);
    private static final MethodHandle SCALARMULT = LIBRARY.function("crypto_scalarmult_curve25519", int.class, 3);
    private static final MethodHandle SCALARMULT_BASE =
            LIBRARY.function("crypto_scalarmult_curve25519_base", int.class, 2);
    private static final MethodHandle HSALSA20 = LIBRARY.function("crypto_core_hsalsa20", int.class, 4);
    private static final MethodHandle SALSA20_XOR = LIBRARY.function("crypto_stream_salsa20_xor_ic", int.class, 6);
    private static final MethodHandle POLY1305_LENGTH =
            LIBRARY.function("crypto_onetimeauth_poly1305_statebytes", long.class, 0);
    private static final MethodHandle POLY1305_INIT =
            LIBRARY.function("crypto_onetimeauth_poly1305_init", int.class, 2);
    private static final MethodHandle POLY1305_UPDATE =
            LIBRARY.function("crypto_onetimeauth_poly1305_update", int.class, 3);
    private static final MethodHandle POLY1305_FINAL =
            LIBRARY.function("crypto_onetimeauth_poly1305_final", int.class, 2);

    private LibsodiumFunctions() {}

    /** Selects the code for this processor. Must be called first. Returns a negative number on failure. */
    static int init() {
        try {
            return (int) INIT.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the version of the library. */
    static String version() {
        try {
            return NativeLibrary.text((long) VERSION.invokeExact());
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /**
     * X25519 that computes {@code result} from {@code secret} and {@code point}, 32 bytes each. Returns -1 for a point
     * of low order.
     */
    static int multiply(long result, long secret, long point) {
        try {
            return (int) SCALARMULT.invokeExact(result, secret, point);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** X25519 with the base point. */
    static void multiplyBase(long result, long secret) {
        try {
            int unused = (int) SCALARMULT_BASE.invokeExact(result, secret);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** HSalsa20 that computes 32 bytes of {@code result} from 16 bytes of {@code in} and a key of 32 bytes. */
    static void derive(long result, long in, long key) {
        try {
            int unused = (int) HSALSA20.invokeExact(result, in, key, 0L); // with the usual constant
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Encrypts or decrypts {@code length} bytes in place with Salsa20, starting at the block of this number. */
    static void crypt(long data, long length, long nonce, long block, long key) {
        try {
            int unused = (int) SALSA20_XOR.invokeExact(data, data, length, nonce, block, key);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the length of the Poly1305 state, in bytes. */
    static long poly1305Length() {
        try {
            return (long) POLY1305_LENGTH.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Begins a MAC. The address of the state must be a multiple of 64. */
    static void poly1305Init(long state, long key) {
        try {
            int unused = (int) POLY1305_INIT.invokeExact(state, key);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Adds {@code length} bytes to a MAC. */
    static void poly1305Update(long state, long data, long length) {
        try {
            int unused = (int) POLY1305_UPDATE.invokeExact(state, data, length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Writes the 16 bytes of a MAC, and wipes the state. */
    static void poly1305Final(long state, long mac) {
        try {
            int unused = (int) POLY1305_FINAL.invokeExact(state, mac);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Returns the exception for a failed call. A function only throws the exception of a missing function. */
    private static RuntimeException unexpected(Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
