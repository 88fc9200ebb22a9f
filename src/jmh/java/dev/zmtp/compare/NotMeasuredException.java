package dev.zmtp.compare;

/** A run has no figures; the message is the reason, as the report prints it. */
final class NotMeasuredException extends Exception {

    private static final long serialVersionUID = 1;

    private final boolean lasting;

    /** With {@code lasting} if another try would fail the same way. */
    NotMeasuredException(String reason, boolean lasting) {
        super(reason);
        this.lasting = lasting;
    }

    /** Whether another try would fail the same way. */
    boolean lasting() {
        return lasting;
    }
}
