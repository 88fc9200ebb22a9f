package dev.zmtp.compare.peer;

/** This peer, or this machine, cannot do what the arguments ask for. The message says why, in one line. */
final class UnsupportedException extends Exception {

    private static final long serialVersionUID = 1L;

    UnsupportedException(String message) {
        super(message.lines().findFirst().orElse("no reason given"));
    }
}
