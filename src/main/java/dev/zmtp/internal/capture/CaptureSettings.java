package dev.zmtp.internal.capture;

import java.nio.file.Path;

/**
 * Settings of a capture.
 *
 * @param maxBytes maximum length of a file
 * @param files maximum number of files that are kept
 * @param snapLength maximum number of bytes of a frame that are captured
 * @param queueBytes maximum number of bytes that wait to be written
 * @param overwrite whether a file that exists is replaced
 */
public record CaptureSettings(
        Path file, long maxBytes, int files, int snapLength, long queueBytes, boolean overwrite) {}
