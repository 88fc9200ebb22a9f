package dev.zmtp.internal.websocket;

import io.netty.util.concurrent.FastThreadLocal;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Source of the keys with which a client masks its frames.
 *
 * <p>A server that has seen some keys must not be able to predict the next, because it could otherwise make bytes on
 * the wire look like another protocol to a proxy (RFC 6455, sections 5.3 and 10.3). The keys are the output of AES in
 * counter mode. A {@link SecureRandom} can block, so it is used once, for the secret of all threads.
 */
final class MaskingKeys {

    private static final int SECRET_BYTES = 16;

    /** Number of bytes that are computed at a time. */
    private static final int BATCH = 256;

    private static final byte[] ZEROS = new byte[BATCH];

    private static final SecretKeySpec SECRET = new SecretKeySpec(secret(), "AES");

    /** The number of the next stream. Each thread has its own stream. */
    private static final AtomicLong STREAMS = new AtomicLong();

    private static final FastThreadLocal<MaskingKeys> OF_THREAD = new FastThreadLocal<>() {
        @Override
        protected MaskingKeys initialValue() throws GeneralSecurityException {
            return new MaskingKeys(STREAMS.getAndIncrement());
        }
    };

    private final Cipher cipher = Cipher.getInstance("AES/CTR/NoPadding");
    private final ByteBuffer keys = ByteBuffer.allocate(BATCH).position(BATCH);

    private MaskingKeys(long stream) throws GeneralSecurityException {
        byte[] counter =
                ByteBuffer.allocate(cipher.getBlockSize()).putLong(stream).array();
        cipher.init(Cipher.ENCRYPT_MODE, SECRET, new IvParameterSpec(counter));
    }

    private static byte[] secret() {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        return secret;
    }

    /** Returns the next key. From any thread. */
    static int next() {
        return OF_THREAD.get().take();
    }

    private int take() {
        if (!keys.hasRemaining()) {
            try {
                cipher.update(ZEROS, 0, BATCH, keys.array());
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("a batch of keys has another length", e);
            }
            keys.clear();
        }
        return keys.getInt();
    }
}
