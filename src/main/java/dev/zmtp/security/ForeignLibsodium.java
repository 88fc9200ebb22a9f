package dev.zmtp.security;

import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;

/**
 * Functions of libsodium, called through {@code java.lang.foreign}. If the library cannot be used, each method throws
 * an {@link UnsatisfiedLinkError}.
 */
final class ForeignLibsodium implements LibsodiumFunctions {

    private static final NativeLibrary LIBRARY = NativeLibrary.load(NAMES);

    // Constants, so that the JIT compiles the calls into their callers.
    private static final MethodHandle INIT = LIBRARY.function("sodium_init", int.class, 0);
    private static final MethodHandle VERSION = LIBRARY.function("sodium_version_string", long.class, 0);
    private static final MethodHandle SCALARMULT = LIBRARY.function("crypto_scalarmult_curve25519", int.class, 3);
    private static final MethodHandle SCALARMULT_BASE =
            LIBRARY.function("crypto_scalarmult_curve25519_base", int.class, 2);
    private static final MethodHandle HSALSA20 = LIBRARY.function("crypto_core_hsalsa20", int.class, 4);
    private static final MethodHandle SALSA20_XOR = LIBRARY.function("crypto_stream_salsa20_xor_ic", int.class, 6);
    private static final MethodHandle POLY1305 = LIBRARY.function("crypto_onetimeauth_poly1305", int.class, 4);
    private static final MethodHandle POLY1305_LENGTH =
            LIBRARY.function("crypto_onetimeauth_poly1305_statebytes", long.class, 0);
    private static final MethodHandle POLY1305_INIT =
            LIBRARY.function("crypto_onetimeauth_poly1305_init", int.class, 2);
    private static final MethodHandle POLY1305_UPDATE =
            LIBRARY.function("crypto_onetimeauth_poly1305_update", int.class, 3);
    private static final MethodHandle POLY1305_FINAL =
            LIBRARY.function("crypto_onetimeauth_poly1305_final", int.class, 2);

    @Override
    public int init() {
        try {
            return (int) INIT.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public String version() {
        try {
            return NativeLibrary.text((long) VERSION.invokeExact());
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long address(ByteBuffer buffer) {
        return NativeLibrary.address(buffer);
    }

    @Override
    public int multiply(long result, long secret, long point) {
        try {
            return (int) SCALARMULT.invokeExact(result, secret, point);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void multiplyBase(long result, long secret) {
        try {
            int unused = (int) SCALARMULT_BASE.invokeExact(result, secret);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void derive(long result, long in, long key) {
        try {
            int unused = (int) HSALSA20.invokeExact(result, in, key, 0L); // with the usual constant
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void crypt(long result, long in, long length, long nonce, long block, long key) {
        try {
            int unused = (int) SALSA20_XOR.invokeExact(result, in, length, nonce, block, key);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void poly1305(long mac, long data, long length, long key) {
        try {
            int unused = (int) POLY1305.invokeExact(mac, data, length, key);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long poly1305Length() {
        try {
            return (long) POLY1305_LENGTH.invokeExact();
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void poly1305Init(long state, long key) {
        try {
            int unused = (int) POLY1305_INIT.invokeExact(state, key);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void poly1305Update(long state, long data, long length) {
        try {
            int unused = (int) POLY1305_UPDATE.invokeExact(state, data, length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void poly1305Final(long state, long mac) {
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
