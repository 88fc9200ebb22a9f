package dev.zmtp.compare;

/** What the programs of a run say to each other. */
enum Workload {
    /** One side sends as fast as it may, the other counts. */
    ONEWAY("oneway", false),
    /** A fixed number of requests is in flight. */
    REQREP("reqrep", false),
    /** As {@link #REQREP}, with an encoder and a decoder of the user. */
    CUSTOM("custom", false),
    /** One request is in flight. */
    ROUNDTRIP("roundtrip", true),
    /** Requests leave by a schedule, whether or not replies have come. */
    OPENLOOP("openloop", true),
    /** As {@link #ONEWAY}, over many connections. */
    CONNECTIONS("connections", false),
    /** Many connections that say nothing. */
    IDLE("idle", false);

    private final String key;
    private final boolean timed;

    Workload(String key, boolean timed) {
        this.key = key;
        this.timed = timed;
    }

    /** The value of the key {@code workload}. */
    String key() {
        return key;
    }

    /** Whether latencies are recorded. */
    boolean timed() {
        return timed;
    }

    /** Whether the messages that count are those that the accepting side saw; else the connecting side counts. */
    boolean countedByReceiver() {
        // In an open loop the asker sees a reply to some messages only.
        return !asks() || this == OPENLOOP;
    }

    /** Whether there are replies. */
    boolean asks() {
        return this == REQREP || this == CUSTOM || this == ROUNDTRIP || this == OPENLOOP;
    }
}
