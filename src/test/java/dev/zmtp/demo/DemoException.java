package dev.zmtp.demo;

/** Something did not arrive, or not as it was sent. The message is for the user of the demo. */
final class DemoException extends Exception {

    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message);
    }
}
