package dev.zmtp.testing;

import io.netty.util.LeakPresenceDetector;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails every test after which a tracked buffer is still open.
 *
 * <p>It is registered for all tests through {@code META-INF/services}. It sees pooled and direct buffers, not
 * {@code Unpooled.buffer()} on the heap, and it counts for the whole JVM: no two tests at the same time. Who took the
 * buffer is told with {@code -Dio.netty.util.LeakPresenceDetector.trackCreationStack=true}. On Netty 4.1, which has no
 * such detector, it does nothing.
 */
public final class LeakCheck implements AfterEachCallback {
    private static final boolean DETECTOR = hasDetector();

    @Override
    public void afterEach(ExtensionContext context) {
        check();
    }

    /** Fails if a tracked buffer is still open. */
    public static void check() {
        if (DETECTOR) {
            LeakPresenceDetector.check();
        }
    }

    private static boolean hasDetector() {
        try {
            Class.forName("io.netty.util.LeakPresenceDetector", false, LeakCheck.class.getClassLoader());
        } catch (ClassNotFoundException netty41) {
            return false;
        }
        return true;
    }
}
