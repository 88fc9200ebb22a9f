package dev.zmtp.capture;

import dev.zmtp.internal.capture.CaptureHandler;
import dev.zmtp.internal.capture.CaptureSettings;
import dev.zmtp.internal.capture.CaptureWriter;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Writes the traffic of connections to a file that Wireshark opens (pcapng), after decryption. All transports can be
 * captured, including shared memory and {@code inproc}, which no sniffer sees.
 *
 * <pre>{@code
 *   ZMTPCapture capture = ZMTPCapture.open(Path.of("orders.pcapng"));
 *   ZMTPSocket orders = ZMTPSocket.of(ZMTPSocketConfig.builder(ROUTER).capture(capture).build());
 *   // or in a pipeline of your own
 *   ch.pipeline().addLast(ZMTPCodec.of(ROUTER), capture.handler(), new MyHandler());
 * }</pre>
 *
 * <p>{@link #record} records whole messages, for {@link ZMTPRecording}.
 *
 * <p>Each connection is written as a TCP connection of ZMTP 3.1 with NULL, whichever version, mechanism and transport
 * it really has, since Wireshark understands this. The comment of its first packet names the endpoint, the version, the
 * mechanism and the user. A handshake that fails is a connection that is reset, with the cause as a comment.
 * Subscriptions and groups are captured, heartbeats are not.
 *
 * <p><b>Secrets.</b> Neither passwords nor keys of a handshake are written. Of application-defined properties, the
 * names and the lengths of the values are written. Messages, routing ids, user IDs and reasons of refusals are written,
 * so on POSIX file systems only the owner can read the file.
 *
 * <p><b>Bounds.</b> Event loops never wait for the file. They copy at most {@link Builder#snapLength} bytes of each
 * frame to a queue of at most {@link Builder#queueBytes} bytes, which a daemon thread writes. Packets that find no
 * room, such as those of a message that is larger than the queue, are dropped and counted. If the file is full or
 * cannot be written, the capture ends with a line in the log, and all connections continue. At most 1,000 endpoints
 * are distinguished.
 *
 * <p><b>Time.</b> To capture on a loop in virtual time, such as a {@code ZMTPTestLoop}, open the capture on the thread
 * of the loop. The packets then have the virtual time.
 *
 * <p>A capture is shared by any number of sockets and pipelines. Thread safe.
 */
public final class ZMTPCapture implements AutoCloseable {

    private final CaptureWriter writer;

    private ZMTPCapture(CaptureSettings settings) throws IOException {
        this.writer = new CaptureWriter(settings);
    }

    /**
     * Creates a new file with the defaults of {@link Builder}.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the file exists
     * @throws IOException if it cannot be created
     */
    public static ZMTPCapture open(Path file) throws IOException {
        return builder(file).open();
    }

    /**
     * Creates a new file for {@link ZMTPRecording}, with whole frames, and with a queue of 64 MiB. Its length is not
     * limited. A message that takes more than 24 MiB in the queue, and a packet that finds no room, is dropped, which
     * makes the recording incomplete.
     *
     * <p>Close the recorded sockets, then the capture, then read the file. A message that a connection sends after the
     * close of the capture is not in the file, and is a difference in a replay.
     *
     * @throws java.nio.file.FileAlreadyExistsException if the file exists
     * @throws IOException if it cannot be created
     */
    public static ZMTPCapture record(Path file) throws IOException {
        return new ZMTPCapture(CaptureSettings.recording(Objects.requireNonNull(file, "file")));
    }

    /** Returns a builder with the defaults. */
    public static Builder builder(Path file) {
        return new Builder(file);
    }

    /**
     * Returns a new handler for a channel, to be added after its codec. The interface in the file is the address that
     * the channel is bound or connected to.
     */
    public ChannelHandler handler() {
        return new CaptureHandler(writer, null);
    }

    /**
     * Like {@link #handler()}, with a name for the interface in the file.
     *
     * @param endpoint name such as {@code tcp://127.0.0.1:5555}
     */
    public ChannelHandler handler(String endpoint) {
        return new CaptureHandler(writer, Objects.requireNonNull(endpoint, "endpoint"));
    }

    /**
     * Returns the number of packets that were given to the file. If it cannot be written any more, such as on a full
     * disk, up to 64 KiB of the last of them can be missing.
     */
    public long packets() {
        return writer.packets();
    }

    /**
     * Returns the number of packets that were dropped because the queue or the file was full, or because the capture
     * was closed. {@link ZMTPRecording#dropped()} does not count packets that were dropped after the close.
     */
    public long dropped() {
        return writer.dropped();
    }

    /**
     * Captures no more, and waits until the queue and the statistics are written. Do not call this method on an event
     * loop. Further calls return at once.
     *
     * @throws IOException if the capture could not be written completely
     */
    @Override
    public void close() throws IOException {
        writer.close();
    }

    /** Settings of a capture. */
    public static final class Builder {

        private static final long MIN_BYTES = 64 << 10;

        private final Path file;
        private long maxBytes = 1 << 30;
        private int files = 1;
        private int snapLength = 256 << 10;
        private long queueBytes = 16 << 20;
        private boolean overwrite;

        private Builder(Path file) {
            this.file = Objects.requireNonNull(file, "file");
        }

        /**
         * Sets the maximum length of a file in bytes, at least 65,536. The statistics and the descriptions of endpoints
         * that are written at its end come on top. Default: 1 GiB.
         */
        public Builder maxBytes(long maxBytes) {
            this.maxBytes = checked("maxBytes", maxBytes, MIN_BYTES);
            return this;
        }

        /**
         * Sets the maximum number of files that are kept. When a file is full, the next file begins: {@code f.pcapng},
         * {@code f.1.pcapng}, and so on, and the oldest file of this capture is deleted. With 1, the default, the
         * capture ends when its file is full. Each of several files is an incomplete {@link ZMTPRecording}.
         */
        public Builder files(int files) {
            this.files = (int) checked("files", files, 1);
            return this;
        }

        /** Sets the maximum number of bytes that are captured of a frame, at least 0. Default: 256 KiB. */
        public Builder snapLength(int snapLength) {
            this.snapLength = (int) checked("snapLength", snapLength, 0);
            return this;
        }

        /** Sets the maximum number of bytes that wait to be written, at least 65,536. Default: 16 MiB. */
        public Builder queueBytes(long queueBytes) {
            this.queueBytes = checked("queueBytes", queueBytes, MIN_BYTES);
            return this;
        }

        /**
         * Sets whether a file that exists is replaced. With several {@link #files(int)}, the numbered files of an
         * earlier capture are deleted as well. Default: false, so that {@link #open} fails if the first file exists,
         * and other files remain.
         */
        public Builder overwrite(boolean overwrite) {
            this.overwrite = overwrite;
            return this;
        }

        /**
         * Creates the file and begins the capture.
         *
         * @throws java.nio.file.FileAlreadyExistsException if the file exists and is not to be replaced
         * @throws IOException if it cannot be created
         */
        public ZMTPCapture open() throws IOException {
            return new ZMTPCapture(
                    new CaptureSettings(file, maxBytes, files, snapLength, queueBytes, queueBytes, overwrite));
        }

        private static long checked(String name, long value, long min) {
            if (value < min) {
                throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + min + ")");
            }
            return value;
        }
    }
}
