package dev.zmtp.compare.peer;

import java.io.PrintStream;

/** One run of a program: what it was told, what it counts, and what it says. Its methods may be called by any thread. */
final class Program {

    private final Arguments arguments;
    private final Counter messages = new Counter();
    private final Counter late = new Counter();
    private final LatencyRecorder latencies = new LatencyRecorder();
    private final Marks marks;
    private final Schedule schedule;
    private final PrintStream out;
    private final PrintStream err;

    Program(Arguments arguments, PrintStream out, PrintStream err) {
        this.arguments = arguments;
        this.marks = new Marks(arguments, messages, late);
        this.schedule = new Schedule(arguments.rate());
        this.out = out;
        this.err = err;
    }

    Arguments arguments() {
        return arguments;
    }

    /**
     * What the end that binds, or else the one that connects, counts its messages with. Where both are in this process,
     * one of them counts for both: the one that receives, or asks.
     */
    Counter messages(boolean binding) {
        boolean counts =
                arguments.role() != Role.PAIR || binding != arguments.workload().answered();
        return counts ? messages : new Counter();
    }

    /** Messages that were sent late. */
    Counter late() {
        return late;
    }

    /** When messages of an open loop are due; from now on, once it was restarted. */
    Schedule schedule() {
        return schedule;
    }

    LatencyRecorder latencies() {
        return latencies;
    }

    Marks marks() {
        return marks;
    }

    /** Tells where this program listens. A pair keeps it to itself. */
    void bound(int port) {
        if (arguments.role() != Role.PAIR) {
            say("port=" + port);
        }
    }

    /** Tells that all connections are there. */
    void ready() {
        say("ready");
    }

    synchronized void say(String line) {
        out.println(line);
        out.flush();
    }

    /** Ends the program with {@code cause}. */
    void fail(Throwable cause) {
        err.println("peer: " + cause);
        err.flush();
        // Not exit: a thread that is being ended by exit may be the one that fails.
        Runtime.getRuntime().halt(1);
    }
}
