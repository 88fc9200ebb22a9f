package dev.zmtp.compare.peer;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The arguments of a peer program: a role and {@code key=value}.
 *
 * @param role which end this is
 * @param workload what to do
 * @param transport {@code nio}, {@code epoll} or {@code io_uring}, of a peer on Netty; absent if not given
 * @param busy whether the event loops ask for events all the time and never sleep: {@code polling=busy}
 * @param curve whether everything is encrypted: {@code security=curve}
 * @param medium what connections are made of; TCP if not given
 * @param defaults whether Netty runs as it comes, with its leak detection and a promise for each write:
 *     {@code style=defaults}
 * @param kept whether raw-netty puts each message that it receives together: {@code received=kept}
 * @param port where to connect to; for a Unix domain socket the number in the name of its file
 * @param view how a socket is used, of netty-zmtp's sockets alone
 * @param loops how many event loops the sockets of a pair have, {@code one} or {@code two}
 * @param rep whether requests are answered by a REP and not by a ROUTER, of netty-zmtp's sockets alone:
 *     {@code service=rep}
 * @param queue how many messages wait for one peer, and to be received, at most; 0 for the library's default
 * @param mute subscribers besides that subscribe to everything and never read, in news
 * @param drops whether a publisher drops what a subscriber's full queue does not take: {@code full=drop}; otherwise it
 *     waits
 * @param size bytes of a frame, in all but roundtrip and custom; 0 in reqrep for its six frames
 * @param ping bytes of the request, in roundtrip
 * @param pong bytes of the answer, in roundtrip
 * @param outstanding requests in flight, in reqrep, peers, connects and custom
 * @param connections how many connections there are
 * @param rate messages a second, in openloop, latency and news
 * @param every which messages are answered in openloop: every n-th
 * @param flush messages between two flushes on Netty, in oneway and connections, or as many as there can be; see
 *     {@link #flush(int)}
 */
record Arguments(
        Role role,
        Workload workload,
        Optional<String> transport,
        boolean busy,
        boolean curve,
        Medium medium,
        boolean defaults,
        boolean kept,
        View view,
        int loops,
        boolean rep,
        int queue,
        int mute,
        boolean drops,
        int port,
        int size,
        int ping,
        int pong,
        int outstanding,
        int connections,
        int rate,
        int every,
        int flush) {

    private static final int MAX_SIZE = 1 << 26;
    private static final int MAX_CONNECTIONS = 20_000;
    private static final int MAX_COUNT = 1_000_000_000;

    /** The messages between two flushes; {@code usual} if they were not given. */
    int flush(int usual) {
        return flush == MAX_COUNT ? usual : flush;
    }

    /** Reads the arguments after the name of the peer. */
    static Arguments parse(List<String> args) throws UsageException {
        if (args.isEmpty()) {
            throw new UsageException("role: none (expected: " + names(Role.class) + ")");
        }
        Role role = one(Role.class, "role", args.get(0));
        Map<String, String> values = new HashMap<>();
        for (String arg : args.subList(1, args.size())) {
            int equals = arg.indexOf('=');
            if (equals < 1) {
                throw new UsageException("argument: " + arg + " (expected: key=value)");
            }
            if (values.put(arg.substring(0, equals), arg.substring(equals + 1)) != null) {
                throw new UsageException("argument: " + arg + " (expected: each key once)");
            }
        }
        Workload workload = one(Workload.class, "workload", values.remove("workload"));
        if (!workload.has(role)) {
            throw new UsageException("role: " + args.get(0) + " (expected: " + workload.roles() + " in this workload)");
        }
        Medium medium = one(Medium.class, "medium", takeOr(values, "medium", "tcp"));
        Arguments parsed = new Arguments(
                role,
                workload,
                Optional.ofNullable(text(values, "transport", "nio", "epoll", "io_uring")),
                "busy".equals(text(values, "polling", "block", "busy")),
                "curve".equals(text(values, "security", "none", "curve")),
                medium,
                "defaults".equals(text(values, "style", "tuned", "defaults")),
                "kept".equals(text(values, "received", "counted", "kept")),
                one(View.class, "view", takeOr(values, "view", "handler")),
                "one".equals(text(values, "loops", "one", "two")) ? 1 : 2,
                "rep".equals(text(values, "service", "router", "rep")),
                // A default of 0 lets a number be missing; where it must be there, the default is out of range.
                number(values, "queue", 0, 0, MAX_COUNT),
                number(values, "mute", 0, 0, workload == Workload.NEWS ? MAX_CONNECTIONS : 0),
                "drop".equals(text(values, "full", "wait", "drop")),
                number(values, "port", role.connects() && !role.binds() ? -1 : 0, 0, 65_535),
                number(values, "size", sizeDefault(workload), leastSize(workload), MAX_SIZE),
                number(values, "ping", workload == Workload.ROUNDTRIP ? -1 : 1, 1, MAX_SIZE),
                number(values, "pong", workload == Workload.ROUNDTRIP ? -1 : 1, 1, MAX_SIZE),
                number(values, "outstanding", 1000, 1, MAX_COUNT),
                number(values, "connections", 1, 1, MAX_CONNECTIONS),
                number(values, "rate", workload.scheduled() && sends(workload, role) ? -1 : 1, 1, MAX_COUNT),
                number(values, "every", workload == Workload.OPENLOOP && role.binds() ? -1 : 1, 1, MAX_COUNT),
                number(values, "flush", MAX_COUNT, 1, MAX_COUNT));
        if (!values.isEmpty()) {
            throw new UsageException(
                    "key: " + String.join(", ", values.keySet())
                            + " (expected: workload, transport, polling, security, medium, style, received, view, loops,"
                            + " service, queue, mute, full, port, size, ping, pong, outstanding, connections, rate, every or flush)");
        }
        if (medium == Medium.INPROC && role != Role.PAIR) {
            throw new UsageException("medium: inproc (expected: another one but for a pair)");
        }
        if (parsed.connections > 1 && !workload.hasConnections()) {
            throw new UsageException("connections: " + parsed.connections + " (expected: 1 in this workload)");
        }
        return parsed;
    }

    private static boolean sends(Workload workload, Role role) {
        return workload.sentByBinding() ? role.binds() : role.connects();
    }

    private static int sizeDefault(Workload workload) {
        return switch (workload) {
            case ONEWAY, CONNECTIONS, PUBSUB, PROXY, NEWS, LATENCY -> -1;
            case REQREP -> 0;
            default -> 24;
        };
    }

    private static int leastSize(Workload workload) {
        if (workload == Workload.REQREP) {
            return 0;
        }
        return workload.scheduled() ? Long.BYTES : 1;
    }

    private static String takeOr(Map<String, String> values, String key, String otherwise) {
        String value = values.remove(key);
        return value == null ? otherwise : value;
    }

    private static <E extends Enum<E>> E one(Class<E> type, String what, String name) throws UsageException {
        for (E value : EnumSet.allOf(type)) {
            if (lower(value).equals(name)) {
                return value;
            }
        }
        throw new UsageException(what + ": " + (name == null ? "none" : name) + " (expected: " + names(type) + ")");
    }

    private static <E extends Enum<E>> String names(Class<E> type) {
        return String.join(
                ", ", EnumSet.allOf(type).stream().map(Arguments::lower).toList());
    }

    private static String lower(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    /** The value of that key, one of {@code allowed}, or null if there is none. */
    private static String text(Map<String, String> values, String key, String... allowed) throws UsageException {
        String value = values.remove(key);
        if (value != null && !Arrays.asList(allowed).contains(value)) {
            throw new UsageException(key + ": " + value + " (expected: " + String.join(", ", allowed) + ")");
        }
        return value;
    }

    private static int number(Map<String, String> values, String key, int otherwise, int least, int most)
            throws UsageException {
        String value = values.remove(key);
        int number;
        try {
            number = value == null ? otherwise : Integer.parseInt(value);
        } catch (NumberFormatException e) {
            number = -1;
        }
        if (number < least || number > most) {
            throw new UsageException(
                    key + ": " + (value == null ? "none" : value) + " (expected: " + least + " to " + most + ")");
        }
        return number;
    }
}
