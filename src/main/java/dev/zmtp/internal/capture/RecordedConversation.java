package dev.zmtp.internal.capture;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.capture.ZMTPRecording;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;

/**
 * The peer's view of a recorded connection that is played again. It compares the messages of the socket with those of
 * the recording, in order. Not thread safe.
 */
public final class RecordedConversation {

    /** Maximum number of messages by which the socket or the recording can be ahead. */
    private static final int MANY = 10_000;

    /** Maximum number of bytes by which the socket can be ahead, and after which a player waits for the socket. */
    private static final long MANY_BYTES = 64L << 20;

    /** Called once at most, for the first message that is not as recorded. */
    public interface Difference {
        /**
         * A message is not as recorded.
         *
         * @param message number of the message on the connection, from 1
         * @param expected frames of the recorded message; empty if the recording has no more messages
         * @param actual frames of the message; empty if the socket has sent no more messages
         */
        void found(long message, List<byte[]> expected, List<byte[]> actual);
    }

    private final Difference difference;
    private final Queue<List<byte[]>> expected = new ArrayDeque<>();
    private final Queue<List<byte[]>> actual = new ArrayDeque<>();
    private long expectedBytes;
    private long actualBytes;
    private long compared;

    /** Whether a difference was found, after which nothing is compared. */
    private boolean differs;

    public RecordedConversation(Difference difference) {
        this.difference = difference;
    }

    /** Returns the type of the recorded peer, or a type that fits if it has announced none. */
    public static ZMTPSocketType peerType(ZMTPRecording.Entry up) {
        ZMTPSocketType announced = up.peerType();
        return announced != null
                ? announced
                : Arrays.stream(ZMTPSocketType.values())
                        .filter(type -> type.accepts(up.socketType()))
                        .findFirst()
                        .orElseThrow();
    }

    /** Returns the name of the command of a subscription or a membership. */
    public static String command(ZMTPRecording.Entry entry) {
        boolean begins = entry.kind() == ZMTPRecording.Kind.SUBSCRIBED;
        boolean isGroup = entry.socketType() == ZMTPSocketType.RADIO || entry.socketType() == ZMTPSocketType.DISH;
        return isGroup ? begins ? "JOIN" : "LEAVE" : begins ? "SUBSCRIBE" : "CANCEL";
    }

    /** Returns whether the recorded socket has sent this entry, so that it is expected. */
    public static boolean isOfSocket(ZMTPRecording.Entry entry) {
        return switch (entry.kind()) {
            case SENT -> true;
            case SUBSCRIBED, CANCELLED ->
                entry.socketType().isSubscriber() || entry.socketType() == ZMTPSocketType.DISH;
            default -> false;
        };
    }

    /** Compares what the recorded socket has sent with what this socket sends, now or when it arrives. */
    public void expect(ZMTPRecording.Entry entry) {
        List<byte[]> frames = entry.kind() == ZMTPRecording.Kind.SENT
                ? entry.frames()
                : command(command(entry), entry.frames().get(0));
        expected.add(frames);
        expectedBytes += length(frames);
        compare();
        if (expected.size() > MANY) {
            differ(expected.remove(), List.of());
        }
    }

    /** The socket has sent a message. */
    public void message(List<byte[]> frames) {
        actual.add(frames);
        actualBytes += length(frames);
        compare();
    }

    /** The socket has sent a command of this name. */
    public void subscription(String name, byte[] topic) {
        message(command(name, topic));
    }

    private static List<byte[]> command(String name, byte[] topic) {
        return List.of(name.getBytes(StandardCharsets.US_ASCII), topic);
    }

    private static long length(List<byte[]> frames) {
        long length = 0;
        for (byte[] frame : frames) {
            length += frame.length;
        }
        return length;
    }

    /** Returns whether more messages of the socket can be kept until the recording has them. */
    public boolean hasRoom() {
        return actual.size() < MANY && actualBytes < MANY_BYTES;
    }

    /** Returns whether so much is expected that the socket has to catch up first. */
    public boolean isFarAhead() {
        return expected.size() >= MANY || expectedBytes >= MANY_BYTES;
    }

    /** Returns whether a recorded message has not come. */
    public boolean isWaiting() {
        return !expected.isEmpty();
    }

    /** Reports a message that the recorded socket has not sent. */
    public void checkNothingMore() {
        List<byte[]> more = actual.poll();
        if (more != null) {
            differ(List.of(), more);
        }
    }

    /** Reports a message that this socket has not sent. */
    public void checkNothingMissing() {
        List<byte[]> missing = expected.poll();
        if (missing != null) {
            differ(missing, List.of());
        }
    }

    private void compare() {
        while (!expected.isEmpty() && !actual.isEmpty()) {
            List<byte[]> recorded = expected.remove();
            List<byte[]> now = actual.remove();
            expectedBytes -= length(recorded);
            actualBytes -= length(now);
            if (differs || Arrays.deepEquals(recorded.toArray(), now.toArray())) {
                compared++;
            } else {
                differ(recorded, now);
            }
        }
        forgetIfDiffers();
    }

    private void differ(List<byte[]> recorded, List<byte[]> now) {
        if (!differs) {
            differs = true;
            difference.found(compared + 1, recorded, now);
        }
        forgetIfDiffers();
    }

    private void forgetIfDiffers() {
        if (differs) {
            expected.clear();
            actual.clear();
            expectedBytes = 0;
            actualBytes = 0;
        }
    }
}
