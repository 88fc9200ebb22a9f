package dev.zmtp.cli;

/** Ends the program with an exit code, after its message, which is a single line. */
final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int exitCode;

    CliException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** Returns the exception of a command that has failed. */
    static CliException failed(String message) {
        return new CliException(ExitCode.FAILED, message);
    }

    int exitCode() {
        return exitCode;
    }
}
