package dev.zmtp.capture;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.capture.RecordingReader;
import dev.zmtp.internal.capture.RecordingSummary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of a file that {@link ZMTPCapture#record} has written.
 *
 * <pre>{@code
 *   try (ZMTPRecording recording = ZMTPRecording.open(Path.of("orders.pcapng"))) {
 *       for (ZMTPRecording.Entry entry : recording.entries()) {
 *           System.out.println(entry.time() + " " + entry.connection() + " " + entry.kind());
 *       }
 *   }
 * }</pre>
 *
 * <p>The file is read whenever its entries are iterated, 64 KiB at a time. At most 64 MiB of memory are used, whatever
 * the file contains. A message takes at most 24 MiB, and at most 16,384 connections exist at the same time. Frames of a
 * capture with a {@linkplain ZMTPCapture.Builder#snapLength snap length} can be shorter than they were.
 *
 * <p>Not thread safe.
 */
public final class ZMTPRecording implements AutoCloseable {

    private final Path file;
    private final FileChannel channel;
    private final RecordingSummary summary;

    private ZMTPRecording(Path file, FileChannel channel) throws IOException {
        this.file = file;
        this.channel = channel;
        this.summary = RecordingReader.summarize(channel::read, channel.size());
    }

    /**
     * Opens a recording, and reads it once to find out whether it is complete.
     *
     * @throws IOException if the file cannot be read, or is not a recording. The message names the value that is wrong
     *     and the expected values. A file that ends early is a recording that is not complete
     */
    public static ZMTPRecording open(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
        try {
            return new ZMTPRecording(file, channel);
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    /**
     * Returns whether the capture was closed properly and all packets between its opening and its close are in the
     * file, with all their bytes. A file is not complete if the capture has continued in another file.
     */
    public boolean isComplete() {
        return summary.complete();
    }

    /**
     * Returns the number of packets that the capture has dropped before its close. It is 0 for a file that ends early,
     * whose dropped packets are not known.
     */
    public long dropped() {
        return summary.dropped();
    }

    /** Returns the endpoints of the recorded connections, in the order in which they were first used. */
    public List<String> endpoints() {
        return summary.endpoints();
    }

    /**
     * Returns the entries in the order of time. Each iteration reads the file from its beginning. It throws an
     * {@link UncheckedIOException} if the file cannot be read or has changed since it was opened.
     */
    public Iterable<Entry> entries() {
        return () -> new Entries(RecordingReader.of(channel::read, summary));
    }

    /** Closes the file. Iterations fail from now on. */
    @Override
    public void close() throws IOException {
        channel.close();
    }

    @Override
    public String toString() {
        return file.toString();
    }

    /** Kind of an entry. */
    public enum Kind {
        /** The handshake is complete. */
        UP,
        /** The socket has received a message. */
        RECEIVED,
        /** The socket has sent a message. */
        SENT,
        /**
         * A subscription to the topic that is the only frame, or a membership in this group. It was sent by the socket
         * if that is a SUB, XSUB or DISH, and otherwise received.
         */
        SUBSCRIBED,
        /** The end of a subscription or a membership. */
        CANCELLED,
        /** The connection has ended. */
        DOWN
    }

    /**
     * A message or an event of a recorded connection.
     *
     * @param time time since the capture was opened, never less than that of the entry before. It is the time since the
     *     first packet in a file that ends early
     * @param endpoint endpoint of the recorded socket, such as {@code tcp://127.0.0.1:5555}
     * @param socketType type of the recorded socket
     * @param accepted whether the peer has connected to the recorded socket
     * @param connection number of the connection in this recording, from 1
     * @param kind kind of the entry
     * @param peerType type of the peer; null for a peer of ZMTP 1.0, which does not announce it
     * @param routingId routing id of the peer, read only; empty if it has announced none
     * @param frames frames of a message, or a topic; empty for {@link Kind#UP} and {@link Kind#DOWN}
     */
    public record Entry(
            Duration time,
            String endpoint,
            ZMTPSocketType socketType,
            boolean accepted,
            int connection,
            Kind kind,
            @Nullable ZMTPSocketType peerType,
            ByteBuffer routingId,
            List<byte[]> frames) {

        /** Returns the routing id of the peer, with a position of its own. */
        @Override
        public ByteBuffer routingId() {
            return routingId.asReadOnlyBuffer();
        }
    }

    private static final class Entries implements Iterator<Entry> {

        private final RecordingReader reader;
        private @Nullable Entry next;
        private boolean isRead;

        Entries(RecordingReader reader) {
            this.reader = reader;
        }

        @Override
        public boolean hasNext() {
            if (!isRead) {
                try {
                    next = reader.next();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                isRead = true;
            }
            return next != null;
        }

        @Override
        public Entry next() {
            Entry taken = hasNext() ? next : null;
            if (taken == null) {
                throw new NoSuchElementException("the recording has ended");
            }
            next = null;
            isRead = false;
            return taken;
        }
    }
}
