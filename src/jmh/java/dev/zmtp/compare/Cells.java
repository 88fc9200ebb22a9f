package dev.zmtp.compare;

import static dev.zmtp.compare.ComparedPeers.JEROMQ;
import static dev.zmtp.compare.ComparedPeers.LIBZMQ;
import static dev.zmtp.compare.ComparedPeers.OMQ;
import static dev.zmtp.compare.ComparedPeers.OURS;
import static dev.zmtp.compare.ComparedPeers.PREDECESSOR;
import static dev.zmtp.compare.ComparedPeers.RAW;

import dev.zmtp.compare.peer.Workload;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What is measured, and for which peers. */
final class Cells {

    /** The id of the cell that measures what load peers can take in an open loop. */
    static final String MAXIMUM = "openloop-maximum";

    /**
     * More messages a second than any peer can send, and the most that may be asked for: only back pressure stops the
     * peer.
     */
    private static final String UNREACHABLE = "1000000000";

    /** The end of the id of a cell whose event loops never block. */
    static final String BUSY = "-busy";

    /** The end of the id of a cell in which Netty runs as it comes and each write has a promise. */
    static final String DEFAULTS = "-defaults";

    /** The end of the id of a cell whose connections are Unix domain sockets. */
    static final String IPC = "-ipc";

    /** The end of the id of a cell whose processes share memory. */
    static final String SHM = "-shm";

    /** The others that share memory. */
    private static final List<String> SHARING = List.of(ComparedPeers.OMQ, ComparedPeers.AERON, ComparedPeers.RING);

    /** The end of the id of a cell in which everything is encrypted. */
    static final String CURVE = "-curve";

    private static final String AS_IT_COMES = ", Netty's defaults and a promise each";
    private static final String ONE_PROCESS = ", both ends in one process";

    private final boolean full;
    private final List<Cell> cells = new ArrayList<>();

    private Cells(Profile profile) {
        full = profile == Profile.FULL;
    }

    /**
     * The cells of {@code profile} whose id matches {@code wanted}, and the cells that they need; with another build of
     * this codec beside it if {@code baseline}.
     */
    static List<Cell> of(Profile profile, Pattern wanted, boolean baseline) {
        List<Cell> all = new Cells(profile).all();
        if (baseline) {
            all.replaceAll(Cells::withBaseline);
        }
        Set<String> ids = new LinkedHashSet<>();
        for (Cell cell : all) {
            if (wanted.matcher(cell.id()).find()) {
                ids.add(cell.id());
                ids.add(cell.loadOf());
            }
        }
        return all.stream().filter(cell -> ids.contains(cell.id())).toList();
    }

    /**
     * All cells. Each row of the full profile takes 15 seconds, so a figure that is about the same on several
     * transports, such as the ceiling of large blocks, is measured on one.
     */
    private List<Cell> all() {
        oneWay();
        List<String> codecs = join(ours("nio"), List.of(PREDECESSOR));
        addPair("oneway-100-pair", "One way, 100 bytes", Workload.ONEWAY, codecs, "size", "100");
        add(
                "reqrep",
                "Requests of 6 frames, 1,000 in flight",
                Workload.REQREP,
                full ? join(ours("nio", "epoll", "io_uring"), least("nio"), others()) : join(codecs, List.of(LIBZMQ)),
                "outstanding",
                "1000");
        add(
                "reqrep" + DEFAULTS,
                "Requests of 6 frames, 1,000 in flight" + AS_IT_COMES,
                Workload.REQREP,
                join(codecs, least("nio")),
                "style",
                "defaults",
                "outstanding",
                "1000");
        if (full) {
            addPair(
                    "reqrep-pair",
                    "Requests of 6 frames, 1,000 in flight",
                    Workload.REQREP,
                    codecs,
                    "outstanding",
                    "1000");
        }
        add(
                "custom",
                "Requests with a custom codec, 1,000 in flight",
                Workload.CUSTOM,
                full ? join(ours("nio", "epoll"), least("nio"), List.of(PREDECESSOR)) : ours("nio"),
                "outstanding",
                "1000");

        String[] transports = full ? new String[] {"nio", "epoll"} : new String[] {"epoll"};
        roundTrips(
                full ? join(nettys("nio", "epoll", "io_uring"), others()) : join(nettys("epoll"), List.of(LIBZMQ)),
                nettys(transports),
                "256",
                "256");
        if (full) {
            roundTrips(join(nettys("epoll"), List.of(LIBZMQ)), nettys("epoll"), "4", "1024");
        }
        openLoops();
        connections();
        if (full) {
            curve();
            ipc();
            sharedMemory();
            arrivals("tcp", join(nettys("nio"), ours("epoll")));
            arrivals("ipc", join(nettys("nio"), ours("epoll")));
        }
        cells.addAll(SocketCells.of(full ? Profile.FULL : Profile.QUICK));
        arrivals("shm", full ? join(nettys("nio"), List.of(ComparedPeers.AERON, ComparedPeers.RING)) : ours("nio"));
        return cells;
    }

    private static Cell withBaseline(Cell cell) {
        List<String> peers = new ArrayList<>(cell.peers());
        Stream.of(OURS, ComparedPeers.SOCKETS)
                .flatMap(library -> ComparedPeers.TRANSPORTS.stream().map(transport -> library + " " + transport))
                .filter(peers::contains)
                .forEach(name -> peers.add(name + ComparedPeers.BASELINE));
        return cell.withPeers(List.copyOf(peers));
    }

    private void oneWay() {
        if (full) {
            oneWay("10", join(ours("nio", "epoll"), batched("nio", "epoll"), others()));
            oneWay(
                    "100",
                    join(
                            ours("nio", "epoll", "io_uring"),
                            raw("epoll"),
                            batched("nio", "epoll"),
                            least("nio"),
                            variant(least("nio"), ComparedPeers.FULL),
                            others(),
                            List.of(OMQ)));
            oneWay("1000", join(ours("nio", "epoll"), raw("epoll"), others(), List.of(OMQ)));
            oneWay("65536", join(ours("nio", "epoll"), raw("epoll"), keeping("nio", "epoll"), others()));
            oneWay("1048576", join(ours("nio", "epoll"), raw("epoll"), keeping("nio", "epoll"), others()));
        } else {
            oneWay("100", join(ours("nio", "epoll"), batched("epoll"), least("nio"), others()));
            oneWay("65536", join(ours("epoll"), keeping("epoll")));
        }
        add(
                "oneway-100" + DEFAULTS,
                "One way, 100 bytes" + AS_IT_COMES,
                Workload.ONEWAY,
                join(ours("nio"), least("nio"), List.of(PREDECESSOR)),
                "style",
                "defaults",
                "size",
                "100");
    }

    private void oneWay(String size, List<String> peers) {
        add("oneway-" + size, "One way, " + size(size), Workload.ONEWAY, peers, "size", size);
    }

    private void roundTrips(List<String> peers, List<String> busy, String ping, String pong) {
        String id = "roundtrip-" + ping + "-" + pong;
        String title = "Round trip, "
                + (ping.equals(pong) ? size(ping) + " each way" : size(ping) + " there, " + size(pong) + " back");
        add(id, title, Workload.ROUNDTRIP, peers, "ping", ping, "pong", pong);
        add(
                id + BUSY,
                title + ", event loops that never block",
                Workload.ROUNDTRIP,
                busy,
                "polling",
                "busy",
                "ping",
                ping,
                "pong",
                pong);
    }

    private void curve() {
        List<String> peers = join(ours("nio", "epoll"), List.of(JEROMQ, LIBZMQ));
        for (String size : List.of("100", "1000", "65536")) {
            String title = "One way, " + size(size) + ", CURVE";
            add("oneway-" + size + CURVE, title, Workload.ONEWAY, peers, "security", "curve", "size", size);
        }
        add(
                "roundtrip-256-256" + CURVE,
                "Round trip, 256 bytes each way, CURVE",
                Workload.ROUNDTRIP,
                peers,
                "security",
                "curve",
                "ping",
                "256",
                "pong",
                "256");
    }

    private void ipc() {
        List<String> peers = join(ours("nio", "epoll"), overTcp("nio", "epoll"), List.of(LIBZMQ));
        for (String size : List.of("100", "1000", "65536")) {
            String title = "One way, " + size(size) + ", Unix domain sockets";
            List<String> ceilings = switch (size) {
                case "100" -> join(raw("epoll"), least("nio"));
                case "65536" -> keeping("nio", "epoll");
                default -> List.of();
            };
            add("oneway-" + size + IPC, title, Workload.ONEWAY, join(peers, ceilings), "medium", "ipc", "size", size);
        }
        add(
                "reqrep" + IPC,
                "Requests of 6 frames, 1,000 in flight, Unix domain sockets",
                Workload.REQREP,
                peers,
                "medium",
                "ipc",
                "outstanding",
                "1000");
        add(
                "roundtrip-256-256" + IPC,
                "Round trip, 256 bytes each way, Unix domain sockets",
                Workload.ROUNDTRIP,
                peers,
                "medium",
                "ipc",
                "ping",
                "256",
                "pong",
                "256");
    }

    private void sharedMemory() {
        List<String> peers = join(ours("nio"), overTcp("nio"), raw("nio"));
        for (String size : List.of("100", "1000", "65536")) {
            String title = "One way, " + size(size) + ", shared memory";
            List<String> others = switch (size) {
                case "100" -> join(least("nio"), SHARING);
                case "1000" -> SHARING;
                default -> join(keeping("nio"), List.of(ComparedPeers.RING));
            };
            add("oneway-" + size + SHM, title, Workload.ONEWAY, join(peers, others), "medium", "shm", "size", size);
        }
        for (String pong : List.of("256", "1024")) {
            String ping = pong.equals("256") ? "256" : "4";
            add(
                    "roundtrip-" + ping + "-" + pong + BUSY + SHM,
                    "Round trip, " + size(ping) + " there, " + size(pong)
                            + " back, shared memory, event loops that never block",
                    Workload.ROUNDTRIP,
                    join(peers, List.of(ComparedPeers.AERON, ComparedPeers.RING)),
                    "medium",
                    "shm",
                    "polling",
                    "busy",
                    "ping",
                    ping,
                    "pong",
                    pong);
        }
    }

    private void arrivals(String medium, List<String> peers) {
        add(
                "latency-256" + BUSY + "-" + medium,
                "From one process to the other, 256 bytes, 50,000 messages/s, " + Text.medium(medium)
                        + ", event loops that never block",
                Workload.LATENCY,
                peers,
                "medium",
                medium,
                "polling",
                "busy",
                "size",
                "256",
                "rate",
                "50000");
    }

    private void openLoops() {
        List<String> two = join(ours("epoll"), List.of(LIBZMQ));
        List<String> all = join(ours("nio", "epoll", "io_uring"), others());
        add(
                "openloop-50000",
                "Open loop, 50,000 messages/s, each answered",
                Workload.OPENLOOP,
                full ? join(all, raw("epoll")) : two,
                "rate",
                "50000",
                "every",
                "1");
        add(
                MAXIMUM,
                "Open loop at full speed, 24 bytes, every 100th answered",
                Workload.OPENLOOP,
                full ? all : two,
                "size",
                "24",
                "rate",
                UNREACHABLE,
                "every",
                "100");
        share(50, full ? all : two);
    }

    private void share(int percent, List<String> peers) {
        cells.add(new Cell(
                "openloop-" + percent + "-percent",
                "Open loop at " + percent + " % of the slowest peer's maximum, every 100th answered",
                Workload.OPENLOOP,
                false,
                Map.of("every", "100"),
                percent / 100.0,
                MAXIMUM,
                peers));
    }

    private void connections() {
        List<String> two = join(ours("epoll"), List.of(LIBZMQ));
        if (full) {
            connections("10", two);
            connections("100", join(ours("nio", "epoll", "io_uring"), others()));
            connections("1000", join(ours("nio", "epoll"), few("nio", "epoll"), List.of(PREDECESSOR, LIBZMQ)));
            connections("10000", join(ours("nio", "epoll"), few("nio", "epoll"), others()));
            idle("10000", join(nettys("epoll"), ours("io_uring"), others()));
        } else {
            connections("100", two);
            idle("1000", ours("epoll"));
        }
    }

    private void connections(String n, List<String> peers) {
        add(
                "connections-" + n,
                "One way, 100 bytes, over " + number(n) + (n.equals("1") ? " connection" : " connections"),
                Workload.CONNECTIONS,
                peers,
                "size",
                "100",
                "connections",
                n);
    }

    private void idle(String n, List<String> peers) {
        add("idle-" + n, number(n) + " idle connections", Workload.IDLE, peers, "connections", n);
    }

    private void add(String id, String title, Workload workload, List<String> peers, String... keys) {
        cells.add(new Cell(id, title, workload, false, map(keys), 0, "", peers));
    }

    private void addPair(String id, String title, Workload workload, List<String> peers, String... keys) {
        cells.add(new Cell(id, title + ONE_PROCESS, workload, true, map(keys), 0, "", peers));
    }

    static Map<String, String> map(String... keys) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < keys.length; i += 2) {
            map.put(keys[i], keys[i + 1]);
        }
        return map;
    }

    private static String size(String bytes) {
        return Text.size(Long.parseLong(bytes));
    }

    static String number(String value) {
        return String.format(Locale.ROOT, "%,d", Long.parseLong(value));
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
        return variant(raw(transports), ComparedPeers.BATCHED);
    }

    private static List<String> keeping(String... transports) {
        return variant(raw(transports), ComparedPeers.KEEPING);
    }

    private static List<String> few(String... transports) {
        return variant(ours(transports), ComparedPeers.FEW);
    }

    private static List<String> overTcp(String... transports) {
        return variant(ours(transports), ComparedPeers.TCP);
    }

    private static List<String> least(String... transports) {
        return Stream.of(transports)
                .map(transport -> ComparedPeers.LEAST + " " + transport)
                .toList();
    }

    private static List<String> variant(List<String> names, String end) {
        return names.stream().map(name -> name + end).toList();
    }

    private static List<String> others() {
        return List.of(PREDECESSOR, JEROMQ, LIBZMQ);
    }

    @SafeVarargs
    static List<String> join(List<String>... lists) {
        List<String> all = new ArrayList<>();
        for (List<String> list : lists) {
            all.addAll(list);
        }
        return List.copyOf(all);
    }
}
