package dev.zmtp.internal.websocket;

import java.security.SecureRandom;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntSupplier;

/**
 * Sources of the keys with which a client masks its frames.
 *
 * <p>A key must be unpredictable for those who choose the payload, so that they cannot make bytes on the wire look like
 * another protocol to a proxy (RFC 6455, section 10.3). Only the peer and those who can read the connection see the
 * keys, so a source that is fast and has a secret seed is sufficient. A {@link SecureRandom} can block, so it is used
 * once, when this class is loaded.
 */
final class MaskingKeys {

    private static final long SECRET = new SecureRandom().nextLong();

    private MaskingKeys() {}

    /** Returns a new source for a single connection. Not thread safe. */
    static IntSupplier random() {
        return new SplittableRandom(SECRET ^ ThreadLocalRandom.current().nextLong())::nextInt;
    }
}
