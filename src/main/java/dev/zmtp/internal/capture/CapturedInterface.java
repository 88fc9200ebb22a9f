package dev.zmtp.internal.capture;

import java.util.concurrent.atomic.LongAdder;

/** An endpoint as an interface of the file, with the number of its packets that were dropped. */
final class CapturedInterface {

    private final String endpoint;
    private final String description;
    private final LongAdder dropped = new LongAdder();

    CapturedInterface(String endpoint, String description) {
        this.endpoint = endpoint;
        this.description = description;
    }

    byte[] block() {
        return PcapngBlocks.describe(endpoint, description);
    }

    void dropped(long packets) {
        dropped.add(packets);
    }

    /** Returns whether packets were dropped since the last call of {@link #takeDropped}. */
    boolean hasDropped() {
        return dropped.sum() > 0;
    }

    /** Returns the number of packets that were dropped since the last call. Called on the writer's thread. */
    long takeDropped() {
        return dropped.sumThenReset();
    }
}
