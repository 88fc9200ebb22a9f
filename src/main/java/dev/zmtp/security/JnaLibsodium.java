package dev.zmtp.security;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * Functions of libsodium, called through JNA, an optional dependency, on versions of Java without
 * {@code java.lang.foreign}. JNA binds each native method of this class to the function of the same name, so a call
 * creates no object.
 */
@SuppressWarnings("MemberName") // the names are libsodium's
final class JnaLibsodium implements LibsodiumFunctions {

    static {
        if (Native.POINTER_SIZE != Long.BYTES) {
            throw new UnsatisfiedLinkError("not supported without 64-bit addresses");
        }
        Native.register(JnaLibsodium.class, library());
    }

    /**
     * Loads the library.
     *
     * @throws LinkageError if the library or JNA is missing
     */
    JnaLibsodium() {}

    private static com.sun.jna.NativeLibrary library() {
        for (String name : NAMES) {
            try {
                return com.sun.jna.NativeLibrary.getInstance(name, Map.of());
            } catch (UnsatisfiedLinkError e) {
                // Not under this name.
            }
        }
        throw new UnsatisfiedLinkError("not found under these names: " + String.join(", ", NAMES));
    }

    private static native int sodium_init();

    private static native long sodium_version_string();

    private static native int crypto_scalarmult_curve25519(long q, long n, long p);

    private static native int crypto_scalarmult_curve25519_base(long q, long n);

    private static native int crypto_core_hsalsa20(long out, long in, long k, long c);

    private static native int crypto_stream_salsa20_xor_ic(long c, long m, long length, long n, long ic, long k);

    private static native int crypto_onetimeauth_poly1305(long out, long in, long length, long k);

    private static native long crypto_onetimeauth_poly1305_statebytes();

    private static native int crypto_onetimeauth_poly1305_init(long state, long key);

    private static native int crypto_onetimeauth_poly1305_update(long state, long in, long length);

    private static native int crypto_onetimeauth_poly1305_final(long state, long out);

    @Override
    public int init() {
        return sodium_init();
    }

    @Override
    public String version() {
        return new Pointer(sodium_version_string()).getString(0) + " through JNA";
    }

    @Override
    public long address(ByteBuffer buffer) {
        return Pointer.nativeValue(Native.getDirectBufferPointer(buffer));
    }

    @Override
    public int multiply(long result, long secret, long point) {
        return crypto_scalarmult_curve25519(result, secret, point);
    }

    @Override
    public void multiplyBase(long result, long secret) {
        crypto_scalarmult_curve25519_base(result, secret);
    }

    @Override
    public void derive(long result, long in, long key) {
        crypto_core_hsalsa20(result, in, key, 0); // with the usual constant
    }

    @Override
    public void crypt(long result, long in, long length, long nonce, long block, long key) {
        crypto_stream_salsa20_xor_ic(result, in, length, nonce, block, key);
    }

    @Override
    public void poly1305(long mac, long data, long length, long key) {
        crypto_onetimeauth_poly1305(mac, data, length, key);
    }

    @Override
    public long poly1305Length() {
        return crypto_onetimeauth_poly1305_statebytes();
    }

    @Override
    public void poly1305Init(long state, long key) {
        crypto_onetimeauth_poly1305_init(state, key);
    }

    @Override
    public void poly1305Update(long state, long data, long length) {
        crypto_onetimeauth_poly1305_update(state, data, length);
    }

    @Override
    public void poly1305Final(long state, long mac) {
        crypto_onetimeauth_poly1305_final(state, mac);
    }
}
