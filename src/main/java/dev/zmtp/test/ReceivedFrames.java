package dev.zmtp.test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Messages that a {@link ZMTPTestPeer} has received on any of its connections, and the test has not. */
final class ReceivedFrames {

    /** Number of messages from which on a connection does not read. */
    private static final int MANY = 1_000;

    private final Queue<List<byte[]>> messages = new ArrayDeque<>();
    private final List<byte[]> frames = new ArrayList<>();

    void add(byte[] frame, boolean more) {
        frames.add(frame);
        if (!more) {
            messages.add(List.copyOf(frames));
            frames.clear();
        }
    }

    /** Forgets the frames of a message whose connection has ended. */
    void connectionEnded() {
        frames.clear();
    }

    @Nullable
    List<byte[]> poll() {
        return messages.poll();
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    boolean hasRoom() {
        return messages.size() < MANY;
    }
}
