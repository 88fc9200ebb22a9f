package dev.zmtp.testing;

import io.netty.buffer.ByteBufAllocator;
import io.netty.util.LeakPresenceDetector;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails every test after which a tracked buffer is still open.
 *
 * <p>It is registered for all tests through {@code META-INF/services}. It sees pooled and direct buffers, not
 * {@code Unpooled.buffer()} on the heap, and it counts for the whole JVM: no two tests at the same time. The stack that
 * took the buffer is shown with {@code -Dio.netty.util.LeakPresenceDetector.trackCreationStack=true}.
 *
 * <p>Netty 4.1 has no such detector, only one that logs a buffer which the garbage collector found unreleased. There,
 * the last test of a class is followed by a collection, and the class fails for all that was logged. The uses of the
 * buffer are shown with {@code -Dio.netty.leakDetection.targetRecords=4}.
 */
public final class LeakCheck implements AfterEachCallback, AfterAllCallback {
    private static final long PATIENCE_MILLIS = 30_000;

    /** What the detector of Netty 4.1 logs, or null where there is a better one. */
    private static final @Nullable CapturedLog LOGGED =
            hasDetector() ? null : new CapturedLog("io.netty.util.ResourceLeakDetector");

    @Override
    public void afterEach(ExtensionContext context) {
        check();
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        if (LOGGED != null) {
            findLogged();
            check();
        }
    }

    /** Fails if a tracked buffer is still open; on Netty 4.1, if one was found to be. */
    public static void check() {
        if (LOGGED == null) {
            LeakPresenceDetector.check();
            return;
        }
        List<String> leaks =
                LOGGED.lines.stream().filter(line -> line.startsWith("LEAK: ")).toList();
        LOGGED.lines.clear();
        if (!leaks.isEmpty()) {
            throw new IllegalStateException("leaks: " + leaks + " (expected: none)");
        }
    }

    /** Has the detector of Netty 4.1 log what leaked until now. */
    static void findLogged() throws InterruptedException {
        collect();
        collect(); // what the first one found is in the detector's queue when the second one has come to ours
        ByteBufAllocator.DEFAULT.directBuffer().release(); // the detector looks when a buffer is taken
    }

    private static void collect() throws InterruptedException {
        ReferenceQueue<Object> collected = new ReferenceQueue<>();
        WeakReference<Object> garbage = new WeakReference<>(new Object(), collected);
        System.gc();
        if (collected.remove(PATIENCE_MILLIS) != garbage) {
            throw new IllegalStateException("garbage: still there (expected: collected)");
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
