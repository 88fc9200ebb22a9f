package dev.zmtp;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import org.jspecify.annotations.Nullable;

/**
 * Registers messages with Netty's leak detector if no allocator tracks their frames.
 *
 * <p>The memory of these messages is on the heap, so a leak only costs their reuse. It is therefore sufficient to track
 * few of them. A connection's own message, which is reused continually, is tracked only at level paranoid, and by
 * detectors other than Netty's. If it is not released, the connection continues with new messages, some of which the
 * detector samples.
 */
final class MessageLeaks {

    private final ResourceLeakDetector<ZMTPMessage> detector;

    /** Whether the detector samples. */
    private final boolean samples;

    MessageLeaks() {
        this(ResourceLeakDetectorFactory.instance().newResourceLeakDetector(ZMTPMessage.class));
    }

    MessageLeaks(ResourceLeakDetector<ZMTPMessage> detector) {
        this.detector = detector;
        this.samples = detector.getClass() == ResourceLeakDetector.class;
    }

    /** Returns the tracker of {@code message}, or null if the detector does not track it. */
    @Nullable
    ResourceLeakTracker<ZMTPMessage> track(ZMTPMessage message, boolean isReused) {
        return isReused && samples && ResourceLeakDetector.getLevel() != Level.PARANOID
                ? null
                : detector.track(message);
    }

    /** Returns whether trackers record the accesses to a message. Like Netty's buffers, they do not at level simple. */
    boolean records() {
        return !samples || ResourceLeakDetector.getLevel().compareTo(Level.SIMPLE) > 0;
    }
}
