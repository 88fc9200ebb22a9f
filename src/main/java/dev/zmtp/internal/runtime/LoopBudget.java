package dev.zmtp.internal.runtime;

/** The bound of the work that one task does on an event loop, which also has to read, to flush and to serve others. */
public final class LoopBudget {

    /** Maximum number of messages that one task handles. The rest is for a later task. */
    public static final int MESSAGES = 1_024;

    private LoopBudget() {}
}
