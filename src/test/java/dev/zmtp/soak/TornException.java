package dev.zmtp.soak;

/** A message that is not what its own header says. */
final class TornException extends Exception {

    private static final long serialVersionUID = 1L;

    TornException(String message) {
        super(message);
    }
}
