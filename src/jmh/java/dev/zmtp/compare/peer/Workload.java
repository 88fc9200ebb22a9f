package dev.zmtp.compare.peer;

import java.util.Locale;

/** What is sent in a run, and what is measured. */
public enum Workload {
    /** One end sends as fast as it can, the other counts. */
    ONEWAY(false, false),
    /** As {@link #ONEWAY}, over many connections. */
    CONNECTIONS(false, false),
    /** One end publishes as fast as it can, the other counts what all of its subscribers get. */
    PUBSUB(false, false),
    /** Messages are published by a schedule, and the subscribers' end measures how long they took. */
    NEWS(false, true),
    /** Two publishers, a proxy and a subscriber of all, in one process. */
    PROXY(false, false),
    /** Many connections without traffic. */
    IDLE(false, false),
    /** A fixed number of requests is in flight. */
    REQREP(true, false),
    /** As {@link #REQREP}, each request over another one of many connections. */
    PEERS(true, false),
    /** As {@link #REQREP}, each request over a connection that is made for it. */
    CONNECTS(true, false),
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

    /** Whether there are replies: then the roles are ASK and ANSWER. */
    public boolean answered() {
        return answered;
    }

    /** Whether the binding end sends; otherwise the connecting end sends or asks. */
    public boolean sentByBinding() {
        return this == PUBSUB || this == NEWS;
    }

    /** Whether only sockets can do it, and no codec. */
    boolean needsSockets() {
        return switch (this) {
            case PUBSUB, NEWS, PROXY, PEERS, CONNECTS -> true;
            default -> false;
        };
    }

    /** The role of the end that binds. */
    public String bindingRole() {
        return sentByBinding() ? "publish" : answered ? "answer" : "receive";
    }

    /** The role of the end that connects. */
    public String connectingRole() {
        return sentByBinding() ? "subscribe" : answered ? "ask" : "send";
    }

    /** Those that it has, for a message. */
    String roles() {
        return this == PROXY ? "pair" : connectingRole() + ", " + bindingRole() + " or pair";
    }

    /** Whether latencies are recorded. */
    public boolean timed() {
        return timed;
    }

    /** Whether messages are sent by a schedule. */
    public boolean scheduled() {
        return this == OPENLOOP || this == LATENCY || this == NEWS;
    }

    /** Whether the binding end takes the times; otherwise the connecting end does. */
    public boolean timedByReceiver() {
        return this == LATENCY || this == NEWS;
    }

    /** Whether there may be many connections. */
    boolean hasConnections() {
        return this == CONNECTIONS || this == PUBSUB || this == NEWS || this == PEERS || this == IDLE;
    }

    /** Whether messages flow. */
    public boolean hasTraffic() {
        return this != IDLE;
    }

    /** Whether the end that receives or answers counts the messages; otherwise the end that sends or asks does. */
    public boolean countedByReceiver() {
        // In an open loop only some messages are answered.
        return !answered || this == OPENLOOP;
    }

    boolean has(Role role) {
        return switch (role) {
            case PAIR -> true;
            case ASK, ANSWER -> answered;
            case SEND, RECEIVE -> !answered && !sentByBinding() && this != PROXY;
            case PUBLISH, SUBSCRIBE -> sentByBinding();
        };
    }
}
