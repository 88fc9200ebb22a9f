package dev.zmtp.internal.capture;

import java.nio.file.Path;

/**
 * Settings of a capture.
 *
 * @param maxBytes maximum length of a file
 * @param files maximum number of files that are kept
 * @param snapLength maximum number of bytes of a frame that are captured
 * @param queueBytes maximum number of bytes that wait to be written
 * @param messageBytes maximum number of bytes that a message takes in the queue
 * @param overwrite whether a file that exists is replaced
 */
public record CaptureSettings(
        Path file, long maxBytes, int files, int snapLength, long queueBytes, long messageBytes, boolean overwrite) {

    private static final long RECORDING_QUEUE = 64L << 20;

    /** Returns the settings of a recording, which has whole frames in a single file, and only what can be read back. */
    public static CaptureSettings recording(Path file) {
        return new CaptureSettings(
                file, Long.MAX_VALUE, 1, Integer.MAX_VALUE, RECORDING_QUEUE, UnfinishedBytes.MAX, false);
    }
}
