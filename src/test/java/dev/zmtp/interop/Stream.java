package dev.zmtp.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** Messages of 1 to 5 frames of 0 to 70,000 bytes: the same each time, and each different from those beside it. */
final class Stream {

    private static final int MAX_FRAMES = 5;
    private static final int MAX_LENGTH = 70_000;

    /** Where the forms of a frame, and buffers, change. */
    private static final int[] EDGES = {0, 1, 255, 256, 8_191, 8_192, 65_535, 65_536, MAX_LENGTH};

    private static final byte[] BYTES = new byte[4 * MAX_LENGTH];

    static {
        new SplittableRandom(1).nextBytes(BYTES);
    }

    private Stream() {}

    /** Sends {@code count} messages, and checks that exactly these arrive, in order. */
    static void over(PeerSocket sender, PeerSocket receiver, int count) {
        CompletableFuture<Void> sent =
                CompletableFuture.runAsync(() -> sendAll(sender, count), task -> new Thread(task).start());
        try {
            for (int i = 0; i < count; i++) {
                assertThat(receiver.receive()).as("message %s", i).isEqualTo(message(i));
            }
        } finally {
            sent.join(); // a socket is for one thread, and closed by this one
        }
    }

    private static void sendAll(PeerSocket sender, int count) {
        for (int i = 0; i < count; i++) {
            sender.send(message(i));
        }
    }

    private static ZMTPMessage message(int index) {
        SplittableRandom random = new SplittableRandom(index);
        List<byte[]> frames = new ArrayList<>();
        for (int left = random.nextInt(1, MAX_FRAMES + 1); left > 0; left--) {
            int from = random.nextInt(BYTES.length - MAX_LENGTH);
            frames.add(Arrays.copyOfRange(BYTES, from, from + length(random)));
        }
        return Messages.of(frames);
    }

    /** One of each four at an edge; the others are of all magnitudes. */
    private static int length(SplittableRandom random) {
        return random.nextInt(4) == 0
                ? EDGES[random.nextInt(EDGES.length)]
                : Math.min(MAX_LENGTH, random.nextInt(1 << random.nextInt(17)));
    }
}
