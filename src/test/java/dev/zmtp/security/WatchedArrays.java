package dev.zmtp.security;

import io.netty.buffer.Unpooled;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import org.bouncycastle.crypto.engines.Salsa20Engine;
import org.bouncycastle.math.ec.rfc7748.X25519;
import org.bouncycastle.util.Pack;
import org.mockito.MockedStatic;
import org.mockito.Mockito;
import org.mockito.invocation.InvocationOnMock;

/**
 * Remembers every array that this thread gives to the methods through which secrets pass, or gets from them, so that a
 * test can look at them afterwards, local variables included. These are static methods, and the primitives of CURVE.
 *
 * <p>A secret is what these methods compute keys from, and the keys. An array that has not one byte other than zero
 * holds none.
 */
final class WatchedArrays implements AutoCloseable {

    private final List<MockedStatic<?>> mocks = new ArrayList<>();

    /** Each array, and what it is. */
    private final IdentityHashMap<Object, String> arrays = new IdentityHashMap<>();

    /** What keys were like when they were made. */
    private final List<byte[]> keys = new ArrayList<>();

    private final List<CurveFile> files = new ArrayList<>();
    private final CurvePrimitives primitives;
    private boolean closed;

    WatchedArrays() {
        primitives = PrimitivesChoice.primitives(); // whose self-test is not a test's
        watch(PrimitivesChoice.class);
        watch(Curve25519.class);
        watch(CurveBoxes.class);
        watch(Z85.class);
        watch(CurveFile.class);
        watch(X25519.class);
        watch(Salsa20Engine.class);
        watch(Pack.class);
        watch(Unpooled.class);
    }

    private <T> void watch(Class<T> type) {
        mocks.add(Mockito.mockStatic(type, this::call));
    }

    private Object call(InvocationOnMock call) throws Throwable {
        String method = call.getMethod().getName();
        Object returned = call.callRealMethod();
        for (Object argument : call.getRawArguments()) {
            add(method, argument);
        }
        add(method, returned);
        switch (method) {
            case "primitives" -> {
                return new WatchedPrimitives();
            }
            case "generateSecretKey" -> keys.add(((byte[]) returned).clone());
            case "sharedKey" -> {
                keys.add(((byte[]) call.getArgument(0)).clone());
                keys.add(((byte[]) returned).clone());
            }
            case "intToLittleEndian" -> {
                if (call.getRawArguments().length == 5 && call.getRawArguments()[3] instanceof byte[] macKey) {
                    keys.add(macKey.clone());
                }
            }
            case "publicKey" -> keys.add(((byte[]) call.getArgument(0)).clone());
            case "decode" -> {
                if (call.<String>getArgument(0).startsWith("secret")) {
                    keys.add(((byte[]) call.getArgument(1)).clone());
                }
            }
            case "encode" -> {
                if (holdsAKey(call.getArgument(0))) {
                    keys.add(((byte[]) returned).clone());
                }
            }
            case "read" -> files.add((CurveFile) returned);
            default -> {}
        }
        return returned;
    }

    private final class WatchedPrimitives implements CurvePrimitives {

        @Override
        public byte[] publicKey(byte[] secretKey) {
            add("publicKey", secretKey);
            return primitives.publicKey(secretKey);
        }

        @Override
        public boolean agree(byte[] secretKey, byte[] publicKey, byte[] agreed) {
            boolean agree = primitives.agree(secretKey, publicKey, agreed);
            add("agree", secretKey);
            add("agree", agreed);
            keys.add(agreed.clone());
            return agree;
        }

        @Override
        public byte[] derive(byte[] key, byte[] prefix) {
            byte[] derived = primitives.derive(key, prefix);
            add("derive", key);
            add("derive", derived);
            keys.add(derived.clone());
            return derived;
        }

        @Override
        public BoxCipher cipher(byte[] derived) {
            arrays.put(derived, "state of a box"); // unless it is wiped at once
            return primitives.cipher(derived);
        }
    }

    private void add(String method, Object value) {
        if (value instanceof byte[] || (value instanceof int[] && method.equals("salsaCore"))) {
            arrays.putIfAbsent(value, (value instanceof int[] ? "state of a box" : "array") + " in " + method);
        } else if (value instanceof byte[][] parts) {
            Arrays.stream(parts).forEach(part -> add(method, part));
        }
    }

    /** A source of keys whose arrays are watched. */
    SecureRandom random() {
        return new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                super.nextBytes(bytes);
                arrays.put(bytes, "random");
                if (bytes.length == SecretBox.KEY_LENGTH) {
                    keys.add(bytes.clone());
                }
            }
        };
    }

    int keysSeen() {
        return keys.size();
    }

    List<CurveFile> filesRead() {
        return files;
    }

    /** The arrays that hold a key, or the state of a cipher. */
    List<String> secretsLeft() {
        close();
        List<String> left = new ArrayList<>();
        arrays.forEach((array, what) -> {
            if (holdsASecret(array)) {
                left.add(what);
            }
        });
        if (primitives instanceof Libsodium libsodium && holdsAKey(LibsodiumMemories.content(libsodium))) {
            left.add("native memory");
        }
        return left;
    }

    private boolean holdsASecret(Object array) {
        if (array instanceof int[] words) {
            return Arrays.stream(words).anyMatch(word -> word != 0);
        }
        return array instanceof byte[] bytes && holdsAKey(bytes);
    }

    private boolean holdsAKey(byte[] array) {
        return keys.stream().anyMatch(key -> contains(array, key));
    }

    private static boolean contains(byte[] array, byte[] key) {
        for (int at = 0; at + key.length <= array.length; at++) {
            if (Arrays.equals(array, at, at + key.length, key, 0, key.length)) {
                return true;
            }
        }
        return false;
    }

    /** Stops watching; what was seen stays. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            mocks.forEach(MockedStatic::close);
        }
    }
}
