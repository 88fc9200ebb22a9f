package dev.zmtp.internal.runtime;

/** The work limit of a single task on an event loop, which also has to read, flush and serve other connections. */
public final class LoopBudget {

    /** Maximum number of messages that a task handles. A later task handles the rest. */
    public static final int MESSAGES = 1_024;

    private LoopBudget() {}
}
