package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.IdleThread;
import java.util.concurrent.Executor;

/** The thread that looks up the names of hosts for all sockets, as the system's resolver may block for long. */
public final class Lookup {

    public static final Executor SHARED = IdleThread.executor("zmtp-lookup");

    private Lookup() {}
}
