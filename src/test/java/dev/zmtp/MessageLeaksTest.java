package dev.zmtp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.netty.util.ResourceLeakTracker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which messages a leak detector watches, at each level. */
class MessageLeaksTest {

    private final Level before = ResourceLeakDetector.getLevel();

    /** Samples everything. */
    @SuppressWarnings("deprecation") // the constructor for a fixed interval
    private final MessageLeaks leaks = new MessageLeaks(new ResourceLeakDetector<>(ZMTPMessage.class, 1));

    private final ZMTPMessage message = ZMTPMessage.fromUTF8("a");

    @AfterEach
    void release() {
        message.release();
        ResourceLeakDetector.setLevel(before);
    }

    private boolean tracks(MessageLeaks detector, boolean isReused) {
        ResourceLeakTracker<ZMTPMessage> tracker = detector.track(message, isReused);
        return tracker != null && tracker.close(message);
    }

    @ParameterizedTest
    @EnumSource(names = {"SIMPLE", "ADVANCED"})
    void aMessageThatIsUsedAgainAndAgainIsNotWatched(Level level) {
        ResourceLeakDetector.setLevel(level);
        assertThat(tracks(leaks, true)).isFalse();
        assertThat(tracks(leaks, false)).isTrue();
    }

    @Test
    void atLevelParanoidEveryMessageIsWatched() {
        ResourceLeakDetector.setLevel(Level.PARANOID);
        assertThat(tracks(leaks, true)).isTrue();
        assertThat(tracks(leaks, false)).isTrue();
    }

    @Test
    void aDetectorOfAnotherKindWatchesEveryMessage() {
        ResourceLeakDetector.setLevel(Level.SIMPLE);
        @SuppressWarnings("deprecation")
        ResourceLeakDetector<ZMTPMessage> other = new ResourceLeakDetector<>(ZMTPMessage.class, 1) {};
        assertThat(tracks(new MessageLeaks(other), true)).isTrue();
        assertThat(new MessageLeaks(other).records()).isTrue();
    }

    @Test
    void whereAMessageHasBeenIsRecordedFromLevelAdvancedOn() {
        ResourceLeakDetector.setLevel(Level.SIMPLE);
        assertThat(leaks.records()).isFalse();
        ResourceLeakDetector.setLevel(Level.ADVANCED);
        assertThat(leaks.records()).isTrue();
    }
}
