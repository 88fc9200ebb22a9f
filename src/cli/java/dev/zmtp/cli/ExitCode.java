package dev.zmtp.cli;

/** The exit codes of the program. */
final class ExitCode {

    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    /** Nothing came in time. */
    static final int TIMEOUT = 3;

    /** The JVM also ends with it when a shell interrupts it. */
    static final int INTERRUPTED = 130;

    private ExitCode() {}
}
