package dev.zmtp.compare;

import static dev.zmtp.compare.Peers.JEROMQ;
import static dev.zmtp.compare.Peers.LIBZMQ;
import static dev.zmtp.compare.Peers.OURS;
import static dev.zmtp.compare.Peers.PREDECESSOR;
import static dev.zmtp.compare.Peers.RAW;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What is measured, and of which peers. */
final class Cells {

    /** The id of the cell that tells what load a peer can take in an open loop. */
    static final String MAXIMUM = "openloop-maximum";

    /** Messages a second that no peer can send, and the most that one may be asked for: only back pressure stops it. */
    private static final String UNREACHABLE = "1000000000";

    private static final String ONE_PROCESS = ", both ends in one process";

    private final boolean full;
    private final List<Cell> cells = new ArrayList<>();

    private Cells(Profile profile) {
        full = profile == Profile.FULL;
    }

    /** The cells of {@code profile} whose id {@code wanted} finds, and those that they need. */
    static List<Cell> of(Profile profile, Pattern wanted) {
        List<Cell> all = new Cells(profile).all();
        Set<String> ids = new LinkedHashSet<>();
        for (Cell cell : all) {
            if (wanted.matcher(cell.id()).find()) {
                ids.add(cell.id());
                ids.add(cell.loadOf());
            }
        }
        return all.stream().filter(cell -> ids.contains(cell.id())).toList();
    }

    private List<Cell> all() {
        List<String> everyone = full
                ? join(nettys("nio", "epoll", "io_uring"), others())
                : join(ours("nio", "epoll"), raw("epoll"), others());
        List<String> oneWay = full ? List.of("10", "100", "1000", "65536", "1048576") : List.of("100", "65536");
        List<String> few = join(nettys("epoll"), List.of(LIBZMQ));
        for (String size : oneWay) {
            List<String> peers = full || size.equals("100") ? everyone : few;
            if (size.equals("10") || size.equals("100")) {
                peers = join(peers, full ? batched("nio", "epoll") : batched("epoll"));
            }
            add("oneway-" + size, "One way, " + octets(size), Workload.ONEWAY, peers, "size", size);
        }
        List<String> codecs = full ? join(ours("nio", "epoll"), predecessor()) : join(ours("nio"), predecessor());
        addPair("oneway-100-pair", "One way, 100 octets", Workload.ONEWAY, codecs, "size", "100");

        List<String> zmtp = full
                ? join(ours("nio", "epoll", "io_uring"), others())
                : join(ours("nio", "epoll"), predecessor(), List.of(JEROMQ, LIBZMQ));
        add("reqrep", "Requests of 6 frames, 1000 in flight", Workload.REQREP, zmtp, "outstanding", "1000");
        addPair("reqrep-pair", "Requests of 6 frames, 1000 in flight", Workload.REQREP, codecs, "outstanding", "1000");
        add("custom", "Requests of user objects, 1000 in flight", Workload.CUSTOM, codecs, "outstanding", "1000");

        roundTrips(full ? everyone : join(nettys("epoll"), others()), "256", "256");
        if (full) {
            roundTrips(everyone, "4", "1024");
        }
        openLoops();
        connections();
        return cells;
    }

    private void roundTrips(List<String> peers, String ping, String pong) {
        String id = "roundtrip-" + ping + "-" + pong;
        String title = "Round trip, " + octets(ping) + " there and " + octets(pong) + " back";
        add(id, title, Workload.ROUNDTRIP, peers, "ping", ping, "pong", pong);
        add(
                id + "-busy",
                title + ", event loops that never block",
                Workload.ROUNDTRIP,
                full ? nettys("nio", "epoll") : nettys("epoll"),
                "polling",
                "busy",
                "ping",
                ping,
                "pong",
                pong);
    }

    private void openLoops() {
        List<String> peers = full ? join(nettys("nio", "epoll"), others()) : join(nettys("epoll"), others());
        add(
                "openloop-50000",
                "Open loop, 50,000 messages a second, each answered",
                Workload.OPENLOOP,
                peers,
                "rate",
                "50000",
                "every",
                "1");
        List<String> loaded =
                full ? join(ours("nio", "epoll"), others()) : join(ours("epoll"), predecessor(), List.of(LIBZMQ));
        add(
                MAXIMUM,
                "Open loop as fast as the peer can, 24 octets, each 100th answered",
                Workload.OPENLOOP,
                loaded,
                "size",
                "24",
                "rate",
                UNREACHABLE,
                "every",
                "100");
        for (int percent : full ? List.of(10, 50, 80) : List.of(50)) {
            Cell cell = new Cell(
                    "openloop-" + percent + "-percent",
                    "Open loop, " + percent + " % of the peer's own maximum, each 100th answered",
                    Workload.OPENLOOP,
                    false,
                    Map.of("every", "100"),
                    percent / 100.0,
                    MAXIMUM,
                    loaded);
            cells.add(cell);
        }
    }

    private void connections() {
        List<String> peers = full ? join(ours("nio", "epoll"), raw("epoll"), others()) : nettys("epoll");
        for (String n : full ? List.of("1", "10", "100", "1000", "10000") : List.of("100")) {
            add(
                    "connections-" + n,
                    "One way, 100 octets, over connections: " + n,
                    Workload.CONNECTIONS,
                    peers,
                    "size",
                    "100",
                    "connections",
                    n);
        }
        String idle = full ? "10000" : "1000";
        add("idle-" + idle, "Idle connections: " + idle, Workload.IDLE, peers, "connections", idle);
    }

    private void add(String id, String title, Workload workload, List<String> peers, String... keys) {
        cells.add(new Cell(id, title, workload, false, map(keys), 0, "", peers));
    }

    private void addPair(String id, String title, Workload workload, List<String> peers, String... keys) {
        cells.add(new Cell(id, title + ONE_PROCESS, workload, true, map(keys), 0, "", peers));
    }

    private static Map<String, String> map(String... keys) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < keys.length; i += 2) {
            map.put(keys[i], keys[i + 1]);
        }
        return map;
    }

    private static String octets(String size) {
        return String.format(Locale.ROOT, "%,d octets", Long.parseLong(size));
    }

    private static List<String> nettys(String... transports) {
        return join(ours(transports), raw(transports));
    }

    private static List<String> ours(String... transports) {
        return Stream.of(transports).map(transport -> OURS + " " + transport).toList();
    }

    private static List<String> raw(String... transports) {
        return Stream.of(transports).map(transport -> RAW + " " + transport).toList();
    }

    private static List<String> batched(String... transports) {
        return raw(transports).stream().map(name -> name + Peers.BATCHED).toList();
    }

    private static List<String> predecessor() {
        return List.of(PREDECESSOR);
    }

    private static List<String> others() {
        return List.of(PREDECESSOR, JEROMQ, LIBZMQ);
    }

    @SafeVarargs
    private static List<String> join(List<String>... lists) {
        List<String> all = new ArrayList<>();
        for (List<String> list : lists) {
            all.addAll(list);
        }
        return List.copyOf(all);
    }
}
