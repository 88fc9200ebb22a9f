package dev.zmtp.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.compare.Results.Row;
import dev.zmtp.compare.peer.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The cells of sockets, and what a report says of them. */
class SocketCellsTest {

    private static final Row SOCKETS = new Row("netty-zmtp sockets epoll", "netty-zmtp sockets", "epoll");
    private static final Row CODEC = new Row("netty-zmtp epoll", "netty-zmtp", "epoll");
    private static final Row LIBZMQ = new Row("libzmq", "libzmq", "epoll");

    private static final Cell ONEWAY = new Cell(
            "socket-oneway-100", "PUSH to PULL", Workload.ONEWAY, false, Map.of("size", "100"), 0, "", List.of());
    private static final Cell PUB =
            new Cell("socket-pub-10-64", "PUB", Workload.PUBSUB, false, Map.of("size", "64"), 0, "", List.of());
    private static final Cell NEWS =
            new Cell("socket-news-10", "News", Workload.NEWS, false, Map.of("size", "1000"), 0, "", List.of());
    private static final Cell MUTE =
            new Cell("socket-news-10-mute", "Mute", Workload.NEWS, false, Map.of("size", "1000"), 0, "", List.of());
    private static final Cell IDLE =
            new Cell("socket-idle-10000", "Idle peers", Workload.IDLE, false, Map.of(), 0, "", List.of());

    @Test
    void eachRowIsOfAPeerThatCanBeStarted() throws Exception {
        Set<String> started = new TreeSet<>(List.of(ComparedPeers.LIBZMQ));
        ComparedPeers.all(Pattern.compile(""), name -> false, Optional.empty())
                .forEach(peer -> started.add(peer.name()));

        for (Profile profile : Profile.values()) {
            assertThat(SocketCells.of(profile)).isNotEmpty().allSatisfy(cell -> {
                assertThat(cell.id()).startsWith("socket-");
                assertThat(started).containsAll(cell.peers());
            });
        }
    }

    @Test
    void anotherBuildOfTheSocketsStandsBesideThem() {
        Cell cell = Cells.of(Profile.FULL, Pattern.compile("^socket-oneway-100$"), true)
                .get(0);

        assertThat(cell.peers()).contains("netty-zmtp sockets nio, baseline", "netty-zmtp epoll, baseline");
    }

    @Test
    void ratiosAreThoseOfTheSocketAndNotOfTheCodec() {
        Results results =
                results(steady(ONEWAY, SOCKETS, 6e6), steady(ONEWAY, CODEC, 8e6), steady(ONEWAY, LIBZMQ, 2e6));

        assertThat(Table.of(results, ONEWAY))
                .contains("| netty-zmtp sockets ÷ peer |")
                .contains("| netty-zmtp epoll | 8.00 M (8.00 M to 8.00 M) | 800 | –, – | –, – | –, – |"
                        + " 0.75 × (0.75 to 0.75) (epoll) |")
                .contains("| libzmq | 2.00 M (2.00 M to 2.00 M) | 200 | –, – | –, – | –, – |"
                        + " 3.00 × (3.00 to 3.00) (epoll) |");
    }

    @Test
    void goalsOfSocketsAreCheckedAgainstTheirOwnRows() {
        Results results = results(
                steady(ONEWAY, SOCKETS, 6e6),
                steady(ONEWAY, CODEC, 8e6),
                steady(ONEWAY, LIBZMQ, 2e6),
                List.of(new Sample(
                        IDLE.id(),
                        SOCKETS.name(),
                        1,
                        Map.of(Metric.HEAP_PER_CONNECTION, 5000.0, Metric.DIRECT_PER_CONNECTION, 4000.0),
                        List.of(),
                        "")));

        assertThat(Goals.of(results))
                .contains("| PUSH to PULL: netty-zmtp sockets epoll against libzmq | ≥ 3 × the messages/s"
                        + " | 6.00 M/s | 2.00 M/s | 3.00 × (3.00 to 3.00) | met |\n")
                .contains("| PUSH to PULL: netty-zmtp sockets epoll against netty-zmtp epoll | ≥ 0.85 × the"
                        + " messages/s | 6.00 M/s | 8.00 M/s | 0.75 × (0.75 to 0.75) | **missed** |\n")
                .contains("| Idle peers: heap and direct memory for each, netty-zmtp sockets epoll | ≤ 8.00 KiB"
                        + " | 8.79 KiB | – | – | **missed** |\n");
    }

    @Test
    void aSubscriberThatNeverReadsIsJudgedByTheSameCellWithoutIt() {
        Results results = results(List.of(p99(NEWS, 1_000_000), p99(MUTE, 1_300_000)));

        assertThat(Goals.of(results))
                .contains("| Mute, p99: netty-zmtp sockets epoll against itself without it | ≤ 1.2 × the time"
                        + " | 1,300 µs | 1,000 µs | 1.30 × of medians | **missed** |\n");
    }

    private static Sample p99(Cell cell, double nanos) {
        return new Sample(cell.id(), SOCKETS.name(), 1, Map.of(Metric.P99, nanos), List.of(), "");
    }

    @Test
    void whatAPublisherDroppedStandsBesideWhatArrived() {
        Sample sample = new Sample(
                PUB.id(), SOCKETS.name(), 1, Map.of(Metric.PER_SECOND, 1e6, Metric.DROPPED, 0.25), List.of(), "");

        assertThat(Table.of(results(List.of(sample)), PUB))
                .contains("| peer | messages/s | dropped | MB/s |")
                .contains("| netty-zmtp sockets epoll | 1.00 M | 25.0 % | 64.0 |");
    }

    @SafeVarargs
    private static Results results(List<Sample>... samples) {
        List<Sample> all = new ArrayList<>();
        for (List<Sample> some : samples) {
            all.addAll(some);
        }
        return new Results(Map.of(), List.of(ONEWAY, PUB, NEWS, MUTE, IDLE), List.of(SOCKETS, CODEC, LIBZMQ), all);
    }

    private static List<Sample> steady(Cell cell, Row row, double perSecond) {
        List<Sample> samples = new ArrayList<>();
        for (int lap = 1; lap <= Ratio.MIN_PAIRS; lap++) {
            samples.add(new Sample(cell.id(), row.name(), lap, Map.of(Metric.PER_SECOND, perSecond), List.of(), ""));
        }
        return samples;
    }
}
