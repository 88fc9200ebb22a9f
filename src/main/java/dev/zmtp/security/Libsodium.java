package dev.zmtp.security;

import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Primitives of libsodium, a native library.
 *
 * <p>Each thread of Netty has its own native memory, which is freed after the thread has ended. All other threads share
 * a pool, which grows to the maximum number in use at the same time. Each handshake can have a virtual thread, and
 * separate memory for each thread would wait for the collector.
 */
final class Libsodium implements CurvePrimitives {

    private final LibsodiumFunctions functions;
    private final String version;

    private final FastThreadLocal<LibsodiumMemory> ofThread = new FastThreadLocal<>() {
        @Override
        protected LibsodiumMemory initialValue() {
            return new LibsodiumMemory(functions, memory -> {});
        }
    };

    /** Shared memory that is not in use. */
    private final Deque<LibsodiumMemory> idle = new ConcurrentLinkedDeque<>();

    /**
     * Prepares the library.
     *
     * @throws UnsatisfiedLinkError if the library is missing or cannot be called, with the reason
     */
    Libsodium(LibsodiumFunctions functions) {
        this.functions = functions;
        if (functions.init() < 0) {
            throw new UnsatisfiedLinkError("sodium_init: failed (expected: success)");
        }
        long length = functions.poly1305Length();
        if (length > LibsodiumMemory.STATE_LENGTH) {
            throw new UnsatisfiedLinkError("crypto_onetimeauth_poly1305_statebytes: " + length + " (expected: <= "
                    + LibsodiumMemory.STATE_LENGTH + ")");
        }
        version = functions.version();
    }

    /**
     * Loads the library. Java 22 and later call it directly, and earlier versions call it through JNA.
     *
     * @throws UnsatisfiedLinkError if the library is missing or cannot be called, with the reason
     */
    static Libsodium load() {
        NativeLibrary.checkNoImage();
        if (NativeLibrary.isForeignAvailable()) {
            return new Libsodium(new ForeignLibsodium());
        }
        try {
            return new Libsodium(new JnaLibsodium());
        } catch (NoClassDefFoundError e) {
            UnsatisfiedLinkError error = new UnsatisfiedLinkError(reason(e));
            error.initCause(e);
            throw error;
        }
    }

    /** Returns why the class that calls JNA was not loaded. JNA itself can be present and fail to load its own part. */
    static String reason(NoClassDefFoundError error) {
        String missing = String.valueOf(error.getMessage());
        if (!missing.startsWith("com/sun/jna/")) {
            return "JNA: " + missing + " (expected: usable)";
        }
        return "Java " + Runtime.version().feature() + " without JNA (expected: Java " + NativeLibrary.FIRST_JAVA
                + " or later, or net.java.dev.jna:jna among the dependencies, as a module com.sun.jna)";
    }

    /** Returns the functions, for a test. */
    LibsodiumFunctions functions() {
        return functions;
    }

    /** Returns memory for this thread, until {@link LibsodiumMemory#wipe}. */
    LibsodiumMemory memory() {
        if (Thread.currentThread() instanceof FastThreadLocalThread) {
            return ofThread.get();
        }
        LibsodiumMemory memory = idle.poll();
        return memory == null ? new LibsodiumMemory(functions, idle::push) : memory;
    }

    @Override
    public byte[] publicKey(byte[] secretKey) {
        return memory().publicKey(secretKey);
    }

    @Override
    public boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
        return memory().agree(secretKey, publicKey, agreed);
    }

    @Override
    public byte[] derive(byte[] key, byte[] prefix) {
        return memory().derive(key, prefix);
    }

    @Override
    public BoxCipher cipher(byte[] derived) {
        return new LibsodiumCipher(this, derived);
    }

    @Override
    public String toString() {
        return "libsodium " + version;
    }
}
