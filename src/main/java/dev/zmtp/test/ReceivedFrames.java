package dev.zmtp.test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Messages that a {@link ZMTPTestPeer} has received on any of its connections, and the test has not. */
final class ReceivedFrames implements PeerInput {

    /** Number of messages from which on a connection does not read. */
    private static final int MANY = 1_000;

    private final Queue<List<byte[]>> messages = new ArrayDeque<>();
    private final Set<String> subscriptions = new LinkedHashSet<>();

    @Override
    public void message(List<byte[]> frames) {
        messages.add(frames);
    }

    @Override
    public void subscription(String name, byte[] topic) {
        String text = new String(topic, StandardCharsets.UTF_8);
        if (name.equals("SUBSCRIBE")) {
            subscriptions.add(text);
        } else if (name.equals("CANCEL")) {
            subscriptions.remove(text);
        }
    }

    @Override
    public boolean hasRoom() {
        return messages.size() < MANY;
    }

    /** Forgets the subscriptions of the last connection. */
    void newConnection() {
        subscriptions.clear();
    }

    List<String> subscriptions() {
        return List.copyOf(subscriptions);
    }

    @Nullable
    List<byte[]> poll() {
        return messages.poll();
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }
}
