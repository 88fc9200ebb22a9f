package dev.zmtp.testing;

import java.util.List;
import java.util.logging.Filter;
import java.util.logging.LogRecord;

/**
 * Keeps warnings that tests provoke off the console, so that any other warning is seen there.
 *
 * <p>{@code src/test/logging.properties} installs it. It hides and does not check: a test that cares about a warning
 * captures it with {@link CapturedLog}.
 */
public final class ExpectedWarnings implements Filter {

    private static final List<String> EXPECTED = List.of(
            // a user's encoder, decoder, authenticator or listener throws
            "a part of the codec failed to close",
            "authenticator failed, peer refused",
            "A listener for room failed",
            "An exception was thrown by dev.zmtp.codec.hostile.ThrowingUserTest",
            // a test allows messages of any length
            "a longer message ends its connection)",
            // a test connects to nobody, or to a peer that refuses
            ", trying again",
            ", given up",
            // a test sends to nobody, or more than there is room for
            " message: there was no room",
            " messages: there was no room",
            ": newer ones took their place",
            ": waited for longer than ",
            ": there is no peer for them",
            // a test's allocator has no memory
            " could not be forwarded",
            // a user's handlers cannot be created
            " could not set up a connection",
            // a peer has a name that is in use, or comes as the second of a pair
            " refused /",
            " refused local:",
            // a user's handler does not answer
            " will not be answered",
            // a subscriber of a user throws, or its messages cannot be sent
            " subscription is cancelled",
            "The handler of messages failed",
            "The filter of subscriptions failed",
            // a user releases a message twice
            "Failed to release a message: ",
            // a loop ends while one of its channels is closed, which Netty cannot tell the handlers
            "Can't invoke task later as EventLoop rejected it",
            // BundleIT loads Netty a second time, and that one cannot use the leak detector of the tests
            "Class io.netty.util.LeakPresenceDetector does not inherit from ResourceLeakDetector.");

    @Override
    public boolean isLoggable(LogRecord logged) {
        String message = logged.getMessage();
        return message == null || EXPECTED.stream().noneMatch(message::contains);
    }
}
