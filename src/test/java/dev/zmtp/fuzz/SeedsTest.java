package dev.zmtp.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** All targets with all their seeds: what a fuzzer starts from, and what one has found. */
@Tag("netty-4.2-only") // long, and the same with any version of Netty
class SeedsTest {

    private static final Map<String, Consumer<byte[]>> TARGETS = new TreeMap<>(Map.ofEntries(
            Map.entry("BudgetFuzz", BudgetFuzz::fuzzerTestOneInput),
            Map.entry("ChunkingFuzz", ChunkingFuzz::fuzzerTestOneInput),
            Map.entry("CommandFuzz", CommandFuzz::fuzzerTestOneInput),
            Map.entry("CurveBoxFuzz", CurveBoxFuzz::fuzzerTestOneInput),
            Map.entry("CurveFuzz", CurveFuzz::fuzzerTestOneInput),
            Map.entry("GreetingFuzz", GreetingFuzz::fuzzerTestOneInput),
            Map.entry("MessageFuzz", MessageFuzz::fuzzerTestOneInput),
            Map.entry("MetadataFuzz", MetadataFuzz::fuzzerTestOneInput),
            Map.entry("NullHandshakeFuzz", NullHandshakeFuzz::fuzzerTestOneInput),
            Map.entry("OldTrafficFuzz", OldTrafficFuzz::fuzzerTestOneInput),
            Map.entry("PlainFuzz", PlainFuzz::fuzzerTestOneInput),
            Map.entry("RecordingFuzz", RecordingFuzz::fuzzerTestOneInput),
            Map.entry("RequestFuzz", RequestFuzz::fuzzerTestOneInput),
            Map.entry("RingFuzz", RingFuzz::fuzzerTestOneInput),
            Map.entry("SubscribingFuzz", SubscribingFuzz::fuzzerTestOneInput),
            Map.entry("TrafficFuzz", TrafficFuzz::fuzzerTestOneInput),
            Map.entry("WritingFuzz", WritingFuzz::fuzzerTestOneInput),
            Map.entry("ZwsFuzz", ZwsFuzz::fuzzerTestOneInput)));

    private static List<Arguments> seeds() throws IOException, URISyntaxException {
        List<Arguments> seeds = new ArrayList<>();
        for (Path folder : list(Path.of(SeedsTest.class.getResource("/fuzz").toURI()))) {
            for (Path seed : list(folder)) {
                seeds.add(Arguments.of(
                        folder.getFileName().toString(),
                        Named.of(seed.getFileName().toString(), seed)));
            }
        }
        return seeds;
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.sorted().toList();
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("seeds")
    void noSeedBreaksAPromise(String target, Path seed) throws IOException {
        TARGETS.get(target).accept(Files.readAllBytes(seed));
    }

    @ParameterizedTest
    @MethodSource("targets")
    void everyTargetAcceptsInputOfAnyLength(String target) {
        for (int length = 0; length < 200; length += 1 + length / 2) {
            byte[] bytes = new byte[length];
            Arrays.fill(bytes, (byte) length);
            TARGETS.get(target).accept(bytes);
        }
    }

    private static List<String> targets() {
        return List.copyOf(TARGETS.keySet());
    }

    @Test
    void everyTargetHasSeeds() throws IOException, URISyntaxException {
        assertThat(seeds().stream().map(seed -> seed.get()[0]).distinct()).containsExactlyElementsOf(TARGETS.keySet());
    }
}
