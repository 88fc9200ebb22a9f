package dev.zmtp.internal.capture;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of a recording. */
@FunctionalInterface
public interface RecordingSource {

    /** Reads bytes from a position of the file. Returns their number, or -1 at the end. */
    int read(ByteBuffer target, long position) throws IOException;
}
