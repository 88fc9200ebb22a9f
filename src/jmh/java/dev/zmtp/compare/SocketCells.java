package dev.zmtp.compare;

import static dev.zmtp.compare.ComparedPeers.JEROMQ;
import static dev.zmtp.compare.ComparedPeers.LIBZMQ;
import static dev.zmtp.compare.ComparedPeers.OURS;
import static dev.zmtp.compare.ComparedPeers.RAW;
import static dev.zmtp.compare.ComparedPeers.SOCKETS;
import static dev.zmtp.compare.ComparedPeers.TCP;

import dev.zmtp.compare.peer.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The cells of sockets, whose subject is the socket and not the codec: libzmq and JeroMQ are compared with what does
 * the same.
 */
final class SocketCells {

    /** The beginning of their ids. */
    static final String PREFIX = "socket-";

    private static final String ONE_WAY = "oneway-";
    static final String ONEWAY = PREFIX + ONE_WAY;
    static final String VIEWS = PREFIX + "views-100";
    static final String ROUNDTRIP = PREFIX + "roundtrip-";
    static final String REQUESTS = PREFIX + "requests-";
    static final String PUB = PREFIX + "pub-";
    static final String OPEN_LOOP = PREFIX + "openloop-";
    static final String NEWS = PREFIX + "news-";
    static final String MUTE = "-mute";
    static final String WS = "-ws";
    static final String PEERS = PREFIX + "peers-";
    static final String CONNECTS = PREFIX + "connects";
    static final String PROXY = PREFIX + "proxy";
    static final String FAN_IN = PREFIX + "fanin-";
    static final String INPROC = PREFIX + "inproc-";
    static final String IDLE = PREFIX + "idle-";

    /** The beginning of the ids of plain programs, with threads that wait. */
    static final String PLAIN = PREFIX + "plain-";

    /** The bytes there and back of {@link #ROUNDTRIP}. */
    static final List<String> ROUND_TRIPS = List.of("1", "64", "1024", "32768");

    private static final String MESSAGE = "100";

    /** The cells whose latencies are drawn. Those of other sizes and loads look alike, and their tables say as much. */
    static final Set<String> PICTURED =
            Set.of(ROUNDTRIP + "64", INPROC + "roundtrip-64", OPEN_LOOP + "50-percent", NEWS + "100" + MUTE);

    private static final List<String> OTHERS = List.of(JEROMQ, LIBZMQ);
    private static final List<String> BOTH = List.of(SOCKETS + " nio", SOCKETS + " epoll");
    private static final List<String> OVER_TCP = List.of(BOTH.get(0) + TCP, BOTH.get(1) + TCP);
    private static final List<String> CEILING = List.of(OURS + " nio", OURS + " epoll");

    private final boolean full;
    private final List<String> sockets;
    private final List<Cell> cells = new ArrayList<>();

    private SocketCells(Profile profile) {
        full = profile == Profile.FULL;
        sockets = full ? BOTH : List.of(SOCKETS + " epoll");
    }

    /** All of {@code profile}. */
    static List<Cell> of(Profile profile) {
        SocketCells all = new SocketCells(profile);
        all.oneWay();
        all.roundTrips();
        all.requests();
        all.openLoops();
        all.peers();
        all.connects();
        all.publishers();
        all.news();
        all.proxy();
        all.fanIn();
        all.inproc();
        all.plain();
        all.idle();
        return all.cells;
    }

    private void oneWay() {
        for (String size : full ? List.of(MESSAGE, "1000", "65536") : List.of(MESSAGE)) {
            String title = "PUSH to PULL, " + size(size);
            List<String> ceiling = full ? CEILING : List.of(OURS + " epoll");
            add(ONEWAY + size, title, Workload.ONEWAY, Cells.join(sockets, ceiling, OTHERS), "size", size);
        }
        if (full) {
            add(
                    ONEWAY + MESSAGE + WS,
                    "PUSH to PULL over WebSocket, " + size(MESSAGE),
                    Workload.ONEWAY,
                    Cells.join(BOTH, OVER_TCP, List.of(LIBZMQ)),
                    "medium",
                    "ws",
                    "size",
                    MESSAGE);
            add(
                    ONEWAY + MESSAGE + "-queue",
                    "PUSH to PULL, " + size(MESSAGE) + ", queues of 1,000,000",
                    Workload.ONEWAY,
                    Cells.join(BOTH, OTHERS),
                    "queue",
                    "1000000",
                    "size",
                    MESSAGE);
            add(
                    ONEWAY + MESSAGE + Cells.CURVE,
                    "PUSH to PULL, " + size(MESSAGE) + ", CURVE",
                    Workload.ONEWAY,
                    Cells.join(BOTH, CEILING, OTHERS),
                    "security",
                    "curve",
                    "size",
                    MESSAGE);
            add(
                    VIEWS,
                    "PUSH to PULL, " + size(MESSAGE) + ", by view",
                    Workload.ONEWAY,
                    Cells.join(List.of(SOCKETS + " nio"), views("thread", "futures")),
                    "size",
                    MESSAGE);
        }
    }

    private void roundTrips() {
        for (String size : full ? ROUND_TRIPS : List.of("64")) {
            List<String> more = full && size.equals("64") ? List.of(OURS + " epoll", RAW + " epoll") : List.of();
            add(
                    ROUNDTRIP + size,
                    "REQ to REP and back, " + size(size),
                    Workload.ROUNDTRIP,
                    Cells.join(sockets, more, OTHERS),
                    "ping",
                    size,
                    "pong",
                    size);
        }
    }

    private void requests() {
        List<String> peers = full ? Cells.join(BOTH, List.of(OURS + " nio"), OTHERS) : both(LIBZMQ);
        add(
                REQUESTS + "frames",
                "Requests of 6 frames to a ROUTER, 1,000 outstanding",
                Workload.REQREP,
                full ? Cells.join(peers, views("by hand")) : peers,
                "outstanding",
                "1000");
        if (full) {
            add(
                    REQUESTS + "64",
                    "Requests of 64 bytes to a ROUTER, 1,000 outstanding",
                    Workload.REQREP,
                    Cells.join(peers, views("by hand", "to REP", "futures", "virtual threads")),
                    "outstanding",
                    "1000",
                    "size",
                    "64");
        }
    }

    /** Shares of what the slowest peer can do with 1,000 outstanding, the same for all. */
    private void openLoops() {
        for (int percent : full ? new int[] {10, 50, 80, 95} : new int[0]) {
            cells.add(new Cell(
                    OPEN_LOOP + percent + "-percent",
                    "Requests of 64 bytes to a ROUTER at " + percent + " % of the slowest peer's maximum",
                    Workload.OPENLOOP,
                    false,
                    Cells.map("every", "1", "size", "64"),
                    percent / 100.0,
                    REQUESTS + "64",
                    Cells.join(BOTH, OTHERS)));
        }
    }

    private void peers() {
        for (String n : full ? List.of("1000", "10000") : List.of("100")) {
            add(
                    PEERS + n,
                    "Requests of 64 bytes to a ROUTER with " + Cells.number(n) + " peers, from each in turn, 100"
                            + " outstanding",
                    Workload.PEERS,
                    rows(),
                    "size",
                    "64",
                    "outstanding",
                    "100",
                    "connections",
                    n);
        }
    }

    private void connects() {
        for (String security : full ? List.of("none", "curve") : List.of("none")) {
            boolean curve = security.equals("curve");
            add(
                    CONNECTS + (curve ? Cells.CURVE : ""),
                    "A connection, a request, an answer, the end" + (curve ? ", CURVE" : "") + "; 16 at a time",
                    Workload.CONNECTS,
                    rows(),
                    "security",
                    security,
                    "outstanding",
                    "16");
        }
    }

    private void news() {
        news("10", "5000", "");
        if (full) {
            news("10", "5000", MUTE);
            news("100", "500", "");
            news("100", "500", MUTE);
        }
    }

    private void news(String n, String rate, String end) {
        String besides = end.isEmpty() ? "" : ", besides one that never reads";
        add(
                NEWS + n + end,
                "PUB of " + Cells.number(rate) + " messages of 1,000 bytes a second, " + n + " SUB" + besides,
                Workload.NEWS,
                rows(),
                "size",
                "1000",
                "rate",
                rate,
                "connections",
                n,
                "mute",
                end.isEmpty() ? "0" : "1");
    }

    private void proxy() {
        cells.add(pair(
                PROXY,
                "2 PUB to a proxy to a SUB within a process, " + size(MESSAGE),
                Workload.PROXY,
                Cells.join(List.of(SOCKETS + " nio"), full ? OTHERS : List.of(LIBZMQ)),
                "size",
                MESSAGE));
    }

    private void publishers() {
        for (String n : full ? List.of("1", "10", "100", "1000") : List.of("100")) {
            publisher("", "that waits for all", n, "64", "wait");
        }
        if (full) {
            publisher("", "that waits for all", "100", "4096", "wait");
            publisher("", "that waits for all", "1000", "4096", "wait");
            publisher("-drop", "that drops", "100", "64", "drop");
        }
    }

    private void publisher(String end, String manner, String n, String size, String overflow) {
        add(
                PUB + n + "-" + size + end,
                "PUB " + manner + ", " + Cells.number(n) + " SUB, " + size(size),
                Workload.PUBSUB,
                rows(),
                "full",
                overflow,
                "connections",
                n,
                "size",
                size);
    }

    private void fanIn() {
        for (String n : full ? List.of("16", "256") : List.<String>of()) {
            add(
                    FAN_IN + n,
                    Cells.number(n) + " PUSH to a PULL, 64 bytes",
                    Workload.CONNECTIONS,
                    Cells.join(BOTH, OTHERS),
                    "size",
                    "64",
                    "connections",
                    n);
        }
    }

    private void inproc() {
        List<String> peers = Cells.join(List.of(SOCKETS + " nio"), full ? views("one loop") : List.of(), OTHERS);
        cells.add(pair(
                INPROC + "oneway-" + MESSAGE,
                "PUSH to PULL within a process, " + size(MESSAGE),
                Workload.ONEWAY,
                full ? Cells.join(peers, views("thread")) : peers,
                "medium",
                "inproc",
                "size",
                MESSAGE));
        if (full) {
            cells.add(pair(
                    INPROC + "roundtrip-64",
                    "REQ to REP and back within a process, 64 bytes",
                    Workload.ROUNDTRIP,
                    Cells.join(peers, views("blocking")),
                    "medium",
                    "inproc",
                    "ping",
                    "64",
                    "pong",
                    "64"));
        }
    }

    /** Programs as they are written first, of all libraries: threads that wait in {@code send} and {@code receive}. */
    private void plain() {
        List<String> rows = Cells.join(views("blocking"), OTHERS);
        for (String size : full ? List.of("10", MESSAGE, "1000") : List.of(MESSAGE)) {
            add(
                    PLAIN + ONE_WAY + size,
                    "PUSH to PULL, a thread at each end, " + size(size),
                    Workload.ONEWAY,
                    rows,
                    "size",
                    size);
        }
        add(
                PLAIN + "roundtrip-64",
                "REQ to REP and back, a thread at each end, 64 bytes",
                Workload.ROUNDTRIP,
                Cells.join(views("blocking", "request"), OTHERS),
                "ping",
                "64",
                "pong",
                "64");
        cells.add(pair(
                PLAIN + "inproc-" + MESSAGE,
                "PUSH to PULL within a process, a thread at each end, " + size(MESSAGE),
                Workload.ONEWAY,
                rows,
                "medium",
                "inproc",
                "size",
                MESSAGE));
        for (String n : full ? List.of("2", "8") : List.<String>of()) {
            add(
                    PLAIN + "fanin-" + n,
                    n + " PUSH to a PULL, plain programs, " + size(MESSAGE),
                    Workload.CONNECTIONS,
                    rows,
                    "size",
                    MESSAGE,
                    "connections",
                    n);
        }
        if (full) {
            add(
                    PLAIN + "pub-10",
                    "PUB that waits for all, 10 SUB, plain programs, " + size(MESSAGE),
                    Workload.PUBSUB,
                    rows,
                    "full",
                    "wait",
                    "connections",
                    "10",
                    "size",
                    MESSAGE);
        }
    }

    private void idle() {
        String n = full ? "10000" : "1000";
        List<String> peers = full ? Cells.join(BOTH, List.of(OURS + " epoll"), OTHERS) : sockets;
        add(IDLE + n, "A PULL with " + Cells.number(n) + " idle peers", Workload.IDLE, peers, "connections", n);
    }

    /** The rows that most cells have. */
    private List<String> rows() {
        return full ? Cells.join(BOTH, OTHERS) : both(LIBZMQ);
    }

    /** The row of sockets in the quick profile, and another one. */
    private List<String> both(String other) {
        return Cells.join(sockets, List.of(other));
    }

    /** The rows of sockets on nio that are used in these ways. */
    private static List<String> views(String... names) {
        List<String> rows = new ArrayList<>();
        for (String name : names) {
            rows.add(SOCKETS + " nio, " + name);
        }
        return rows;
    }

    private void add(String id, String title, Workload workload, List<String> peers, String... keys) {
        cells.add(new Cell(id, title, workload, false, Cells.map(keys), 0, "", peers));
    }

    private static Cell pair(String id, String title, Workload workload, List<String> peers, String... keys) {
        return new Cell(id, title, workload, true, Cells.map(keys), 0, "", peers);
    }

    private static String size(String bytes) {
        return bytes.equals("1") ? "1 byte" : Text.size(Long.parseLong(bytes));
    }
}
