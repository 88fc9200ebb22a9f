package dev.zmtp.soak;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** What was found wrong. Each is printed when it is found, the first ones with the history of their link. */
final class Violations {

    /** This many end the run: more would say nothing new. */
    static final int ENOUGH = 20;

    private static final int WITH_HISTORY = 5;

    private final PrintWriter out;
    private final long seed;
    private final List<String> found = new ArrayList<>();

    Violations(PrintWriter out, long seed) {
        this.out = out;
        this.seed = seed;
    }

    /** Adds what was found on a link, whose last events are {@code history}. */
    synchronized void add(String what, String link, List<String> history) {
        found.add(what);
        out.println("VIOLATION: " + what);
        out.println("  seed " + seed + ", " + link);
        if (found.size() <= WITH_HISTORY) {
            history.forEach(event -> out.println("    " + event));
        }
        out.flush();
    }

    /** Adds what was found elsewhere. */
    synchronized void add(String what) {
        add(what, "no link of its own", List.of());
    }

    synchronized List<String> found() {
        return List.copyOf(found);
    }

    /** Whether it is no use to go on. */
    synchronized boolean isEnough() {
        return found.size() >= ENOUGH;
    }
}
