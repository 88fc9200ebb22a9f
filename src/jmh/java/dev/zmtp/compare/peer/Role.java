package dev.zmtp.compare.peer;

/** Which end of a connection a program is. */
enum Role {
    RECEIVE(true, false),
    SEND(false, true),
    ANSWER(true, false),
    ASK(false, true),
    PUBLISH(true, false),
    SUBSCRIBE(false, true),
    PAIR(true, true);

    private final boolean binds;
    private final boolean connects;

    Role(boolean binds, boolean connects) {
        this.binds = binds;
        this.connects = connects;
    }

    boolean binds() {
        return binds;
    }

    boolean connects() {
        return connects;
    }
}
