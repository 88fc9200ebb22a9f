package dev.zmtp.test;

import dev.zmtp.capture.ZMTPRecording;
import dev.zmtp.socket.ZMTPSocket;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Plays the peers of a recording against sockets of a {@link ZMTPTestLoop}, in virtual time, and compares what the
 * sockets send with what the recorded sockets have sent.
 *
 * <pre>{@code
 *   try (ZMTPRecording recording = ZMTPRecording.open(Path.of("orders.pcapng"))) {
 *       ZMTPSocket orders = loop.open(ZMTPSocketConfig.builder(ROUTER));
 *       serveOrders(orders); // the code under test
 *       orders.bind("test://orders");
 *       assertThat(ZMTPReplay.of(recording, loop).into(orders).first()).isNull();
 *   }
 * }</pre>
 *
 * <p>For each recorded connection, a peer connects, announces the recorded socket type and routing id, and sends the
 * recorded messages and subscriptions at their recorded times. It speaks ZMTP 3.1 with NULL, whichever mechanism and
 * transport were recorded, so no keys are needed. Peers that the recorded sockets have connected to are left out.
 *
 * <p>A replay has the result of the recording if handlers run on the loop, take the time from {@link ZMTPTestLoop#time}
 * and depend on nothing else. Peers read at once, so a message that was dropped for a slow peer is a difference. So
 * is a message with random bytes of the socket, such as the ids of requests of a DEALER or of a REQ with correlated
 * requests, and the routing ids that a ROUTER makes for peers that have none, if the service sends them on.
 */
public final class ZMTPReplay {

    private final ZMTPRecording recording;
    private final ZMTPTestLoop loop;

    private ZMTPReplay(ZMTPRecording recording, ZMTPTestLoop loop) {
        this.recording = recording;
        this.loop = loop;
    }

    /**
     * Returns a replay of a recording.
     *
     * @param recording an open recording, which the caller closes after the replay
     * @throws IllegalArgumentException if the recording is not complete. The message has the number of packets that
     *     were dropped
     */
    public static ZMTPReplay of(ZMTPRecording recording, ZMTPTestLoop loop) {
        if (!recording.isComplete()) {
            String reason = recording.dropped() > 0 ? recording.dropped() + " packets dropped" : "cut or with gaps";
            throw new IllegalArgumentException("recording: " + recording + ", " + reason + " (expected: complete)");
        }
        return new ZMTPReplay(recording, loop);
    }

    /**
     * Plays the recording up to its last entry for the sockets. The recorded times count from the loop's current time.
     * The loop advances to the last entry, and up to a second further if a recorded message has not been sent by then.
     * Messages that the sockets send later are not compared.
     *
     * <p>Recorded peers of a socket type connect to the given sockets of this type, at the {@code test://} endpoint
     * with the recorded name, such as {@code test://127.0.0.1:5555} for {@code tcp://127.0.0.1:5555}, or at the only
     * {@code test://} endpoint. Peers of other socket types are left out.
     *
     * @param sockets sockets that the loop has opened and that are bound to {@code test://} endpoints
     * @throws IllegalArgumentException if the recording has no peer for the sockets, or if a recorded endpoint matches
     *     no bound endpoint or more than one
     * @throws AssertionError if a socket refuses a peer or ends its connection before a recorded message arrives
     * @throws java.io.UncheckedIOException if the recording cannot be read
     */
    public Report into(ZMTPSocket... sockets) {
        ReplayRun run = new ReplayRun(loop, sockets);
        try {
            recording.entries().forEach(run::play);
            return run.report();
        } finally {
            run.close();
        }
    }

    /**
     * Result of a replay.
     *
     * @param received number of messages that the sockets have received
     * @param sent number of messages that the sockets have sent
     * @param first the difference that was found first; null if all messages are those of the recording
     */
    public record Report(long received, long sent, @Nullable Difference first) {}

    /**
     * A message that is not as recorded. A subscription is a message of two frames here, the name of its command and
     * its topic.
     *
     * @param connection number of the connection in the recording
     * @param message number of the message, from 1, among those that the socket has sent on the connection
     * @param expected frames of the recorded message; empty if the recording has no more messages
     * @param actual frames of the message of the replay; empty if the socket has sent no more messages
     */
    public record Difference(int connection, long message, List<byte[]> expected, List<byte[]> actual) {

        /** Maximum number of bytes of a frame in a text. */
        private static final int MAX_SHOWN = 32;

        /** Returns the numbers, and the beginnings of the frames of both messages, as text or in hex. */
        @Override
        public String toString() {
            return "connection " + connection + ", message " + message + ": " + text(actual) + " (expected: "
                    + text(expected) + ")";
        }

        private static String text(List<byte[]> frames) {
            return frames.stream().map(Difference::text).collect(Collectors.joining(", ", "[", "]"));
        }

        private static String text(byte[] frame) {
            int length = Math.min(frame.length, MAX_SHOWN);
            String text = new String(frame, 0, length, StandardCharsets.ISO_8859_1);
            String shown = text.matches("[ -~]*") ? '"' + text + '"' : "0x" + ByteBufUtil.hexDump(frame, 0, length);
            return length == frame.length ? shown : shown + "... of " + frame.length + " bytes";
        }
    }
}
