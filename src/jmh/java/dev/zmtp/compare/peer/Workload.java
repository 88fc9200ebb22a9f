package dev.zmtp.compare.peer;

import java.util.Locale;

/** What is sent in a run, and what is measured. */
public enum Workload {
    /** One end sends as fast as it can, the other counts. */
    ONEWAY(false, false),
    /** As {@link #ONEWAY}, over many connections. */
    CONNECTIONS(false, false),
    /** Many connections without traffic. */
    IDLE(false, false),
    /** A fixed number of requests is in flight. */
    REQREP(true, false),
    /** As {@link #REQREP}, with an encoder and a decoder of the application. */
    CUSTOM(true, false),
    /** One request is in flight. */
    ROUNDTRIP(true, true),
    /** Requests are sent by a schedule, whether or not replies have come. */
    OPENLOOP(true, true),
    /** Messages are sent by a schedule, and the end that receives them measures how long they took. */
    LATENCY(false, true);

    private final boolean answered;
    private final boolean timed;

    Workload(boolean answered, boolean timed) {
        this.answered = answered;
        this.timed = timed;
    }

    /** The value of the argument {@code workload}. */
    public String key() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether there are replies: then the roles are ASK and ANSWER, otherwise SEND and RECEIVE. */
    public boolean answered() {
        return answered;
    }

    /** Whether latencies are recorded. */
    public boolean timed() {
        return timed;
    }

    /** Whether messages are sent by a schedule. */
    public boolean scheduled() {
        return this == OPENLOOP || this == LATENCY;
    }

    /** Whether the binding end takes the times; otherwise the connecting end does. */
    public boolean timedByReceiver() {
        return this == LATENCY;
    }

    /** Whether messages flow. */
    public boolean hasTraffic() {
        return this != IDLE;
    }

    /** Whether the binding end counts the messages; otherwise the connecting end does. */
    public boolean countedByReceiver() {
        // In an open loop only some messages are answered.
        return !answered || this == OPENLOOP;
    }

    boolean has(Role role) {
        return switch (role) {
            case PAIR -> true;
            case ASK, ANSWER -> answered;
            case SEND, RECEIVE -> !answered;
        };
    }
}
