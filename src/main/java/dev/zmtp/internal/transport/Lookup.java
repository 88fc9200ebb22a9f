package dev.zmtp.internal.transport;

import dev.zmtp.internal.runtime.ConsistentDeque;
import dev.zmtp.internal.runtime.IdleThread;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A few threads for the lookups of all sockets of the process. The system's resolver can block for a minute if a name
 * server does not respond, so lookups must not wait for each other. A socket gets half of the remaining threads, a name
 * is looked up once at a time, and endpoints whose last lookup took long get half of all threads.
 */
public final class Lookup implements Executor {

    private static final InternalLogger logger = InternalLoggerFactory.getInstance("dev.zmtp.socket.Lookup");

    /** Maximum number of threads of a lookup. */
    static final int THREADS = 8;

    /** Number of threads that are not available to repeated lookups of slow names. */
    private static final int FOR_OTHERS = THREADS / 2;

    private static final long LONG = TimeUnit.SECONDS.toNanos(1);

    /** Looks up the names of hosts. */
    public static final Lookup SHARED = new Lookup("zmtp-lookup");

    /** Accesses files, which must not wait for a name server. */
    public static final Lookup FILES = new Lookup("zmtp-files");

    /** A name that is looked up repeatedly. */
    public static final class Question {
        private final Object owner;
        private final @Nullable String name;
        private final Consumer<Throwable> refused;
        private volatile boolean ended;

        /** True if the last lookup took long. Guarded by the lookup. */
        private boolean slow;

        /**
         * @param owner the socket that needs the address
         * @param refused called instead of the lookup if the system has no thread for it, on any thread
         */
        public Question(Object owner, String name, Consumer<Throwable> refused) {
            this.owner = owner;
            this.name = name;
            this.refused = refused;
        }

        /** Creates a question with an owner of its own and without a name. */
        private Question() {
            this.owner = this;
            this.name = null;
            this.refused = cause -> logger.warn("A lookup has no thread", cause);
        }

        /** Prevents a lookup that has not begun, because its result is no longer needed. From any thread. */
        public void end() {
            ended = true;
        }
    }

    private record Asked(Question question, Runnable lookup, boolean slow) {}

    private final Executor threads;
    private final LongSupplier nanoTime;

    // Guarded by this, for a few instructions
    private final Queue<Asked> waiting = new ConsistentDeque<>();
    private final Map<Object, Integer> ofOwners = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private int running;
    private int slow;

    private Lookup(String name) {
        this(IdleThread.executor(name, THREADS), System::nanoTime);
    }

    Lookup(Executor threads, LongSupplier nanoTime) {
        this.threads = threads;
        this.nanoTime = nanoTime;
    }

    @Override
    public void execute(Runnable lookup) {
        ask(new Question(), lookup);
    }

    /** Runs the lookup when it is its turn. From any thread. */
    public void ask(Question question, Runnable lookup) {
        List<Asked> first = new ArrayList<>(1); // before it counts, because there might be no memory for it
        synchronized (this) {
            Asked asked = new Asked(question, lookup, question.slow);
            if (!mayBegin(asked)) {
                waiting.add(asked);
                return;
            }
            first.add(asked);
            begun(asked);
        }
        begin(first);
    }

    private boolean mayBegin(Asked asked) {
        Question question = asked.question;
        int left = THREADS - running;
        return ofOwners.getOrDefault(question.owner, 0) < left
                && !names.contains(question.name)
                && (!asked.slow || slow < THREADS - FOR_OTHERS);
    }

    private void begun(Asked asked) {
        running++;
        slow += asked.slow ? 1 : 0;
        ofOwners.merge(asked.question.owner, 1, Integer::sum);
        if (asked.question.name != null) {
            names.add(asked.question.name);
        }
    }

    /** Begins these lookups, which count already, and those that take the place of a lookup without a thread. */
    private void begin(List<Asked> all) {
        for (int i = 0; i < all.size(); i++) {
            Asked begun = all.get(i);
            try {
                threads.execute(() -> run(begun));
            } catch (Throwable e) { // the system has no thread left
                all.addAll(ended(begun, 0));
                begun.question.refused.accept(e);
            }
        }
    }

    private void run(Asked asked) {
        long since = nanoTime.getAsLong();
        try {
            if (!asked.question.ended) {
                asked.lookup.run();
            }
        } finally {
            begin(ended(asked, nanoTime.getAsLong() - since));
        }
    }

    /** Returns the lookups that can begin now. */
    private synchronized List<Asked> ended(Asked asked, long nanos) {
        running--;
        slow -= asked.slow ? 1 : 0;
        ofOwners.computeIfPresent(asked.question.owner, (owner, its) -> its == 1 ? null : its - 1);
        names.remove(asked.question.name);
        asked.question.slow = nanos > LONG;
        List<Asked> next = new ArrayList<>(1);
        Iterator<Asked> candidates = waiting.iterator();
        while (running < THREADS && candidates.hasNext()) {
            Asked candidate = candidates.next();
            if (candidate.question.ended) {
                candidates.remove();
            } else if (mayBegin(candidate)) {
                next.add(candidate);
                candidates.remove();
                begun(candidate);
            }
        }
        return next;
    }
}
