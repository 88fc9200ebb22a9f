package dev.zmtp.compare.peer;

import java.io.PrintStream;

/** One run of a program: its arguments, what it counts, and what it prints. Its methods may be called by any thread. */
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
     * The counter of the end that binds, or of the end that connects. Where both are in this process, one of them
     * counts for both: the one that receives, or asks.
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

    /** When messages of an open loop are due. */
    Schedule schedule() {
        return schedule;
    }

    LatencyRecorder latencies() {
        return latencies;
    }

    Marks marks() {
        return marks;
    }

    /** Prints the port on which this program listens, unless both ends are in it. */
    void bound(int port) {
        if (arguments.role() != Role.PAIR) {
            say("port=" + port);
        }
    }

    /** Prints that all connections are established. */
    void ready() {
        say("ready");
    }

    synchronized void say(String line) {
        out.println(line);
        out.flush();
    }

    /** What runs on a thread of the application. */
    interface Task {
        void run() throws Exception;
    }

    /** Runs the task on a thread of its own, which ends with the program. What it throws ends the program. */
    void start(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (Exception | Error e) {
                        fail(e);
                    }
                },
                "application");
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends the program with {@code cause}. */
    void fail(Throwable cause) {
        err.println("peer: " + cause);
        err.flush();
        // Not exit: the thread that fails may be one that exit waits for.
        Runtime.getRuntime().halt(1);
    }
}
