package dev.zmtp.compare;

/** A window has no figures; the message is the reason, as the report prints it. */
final class NotMeasuredException extends Exception {

    private static final long serialVersionUID = 1;

    private final boolean lasting;

    /** With {@code lasting} if later windows of the same processes would have none either. */
    NotMeasuredException(String reason, boolean lasting) {
        super(reason);
        this.lasting = lasting;
    }

    /** Whether later windows of the same processes would have no figures either. */
    boolean lasting() {
        return lasting;
    }
}
