package dev.zmtp.internal.memory;

import dev.zmtp.ZMTPMetadata;

/** The memory of the metadata that a peer has announced, which includes its objects as well as its bytes. */
public final class MetadataMemory {

    private static final int PROPERTY_OBJECTS = 160;

    private MetadataMemory() {}

    /** Returns the number of bytes of memory. */
    public static long of(ZMTPMetadata metadata) {
        long bytes = 0;
        for (int i = 0; i < metadata.size(); i++) {
            bytes += PROPERTY_OBJECTS
                    + metadata.name(i).length()
                    + metadata.value(i).remaining();
        }
        return bytes;
    }
}
