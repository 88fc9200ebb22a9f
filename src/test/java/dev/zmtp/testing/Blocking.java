package dev.zmtp.testing;

/**
 * Lets a test block an event loop on purpose. It is apart from {@link BlockingCheck}, which is installed when its class
 * is loaded, as that must not happen where tests run without it.
 */
public final class Blocking {

    /** Work that may block. */
    @FunctionalInterface
    public interface Work {
        /** Does it. */
        void run() throws InterruptedException;
    }

    private Blocking() {}

    /** Runs it. */
    public static void allow(Work work) throws InterruptedException {
        work.run();
    }
}
