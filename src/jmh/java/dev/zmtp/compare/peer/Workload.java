package dev.zmtp.compare.peer;

/** What is sent, and what is measured of it. */
enum Workload {
    ONEWAY(false),
    CONNECTIONS(false),
    IDLE(false),
    REQREP(true),
    CUSTOM(true),
    ROUNDTRIP(true),
    OPENLOOP(true);

    private final boolean answered;

    Workload(boolean answered) {
        this.answered = answered;
    }

    /** Whether messages go both ways: then the roles are ASK and ANSWER, else SEND and RECEIVE. */
    boolean answered() {
        return answered;
    }

    boolean has(Role role) {
        return switch (role) {
            case PAIR -> true;
            case ASK, ANSWER -> answered;
            case SEND, RECEIVE -> !answered;
        };
    }
}
