package dev.zmtp;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import org.jspecify.annotations.Nullable;

/**
 * Has Netty's leak detector watch messages whose frames no allocator knows.
 *
 * <p>Their memory is on the heap, so a leak costs nothing but their reuse. That allows to watch few of them: a
 * connection's own message, which is used again and again, is watched only at level paranoid, and by detectors other
 * than Netty's. If it is not released, the messages after it are others, of which the detector samples some.
 */
final class MessageLeaks {

    private final ResourceLeakDetector<ZMTPMessage> detector;

    /** Whether the detector is one that samples. */
    private final boolean samples;

    MessageLeaks() {
        this(ResourceLeakDetectorFactory.instance().newResourceLeakDetector(ZMTPMessage.class));
    }

    MessageLeaks(ResourceLeakDetector<ZMTPMessage> detector) {
        this.detector = detector;
        this.samples = detector.getClass() == ResourceLeakDetector.class;
    }

    /** Returns the tracker of {@code message}, or null if the detector does not watch it. */
    @Nullable
    ResourceLeakTracker<ZMTPMessage> track(ZMTPMessage message, boolean isReused) {
        return isReused && samples && ResourceLeakDetector.getLevel() != Level.PARANOID
                ? null
                : detector.track(message);
    }

    /** Whether a tracker wants to know where its message has been. As with Netty's buffers, not at level simple. */
    boolean records() {
        return !samples || ResourceLeakDetector.getLevel().compareTo(Level.SIMPLE) > 0;
    }
}
