package dev.zmtp.compare;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Everything that a comparison has measured, and the machine: the source of the report, and the content of a file of
 * JSON Lines. Each line has one name, cell, peer or window, so that a difference between two files can be read.
 *
 * @param environment names and values that describe the machine and the versions, in the order of the report
 * @param cells what was measured
 * @param peers the peers
 * @param samples the windows, in chronological order within a cell
 */
record Results(Map<String, String> environment, List<Cell> cells, List<Row> peers, List<Sample> samples) {

    /** A peer without its command, which has paths of one machine. */
    record Row(String name, String library, String transport) {

        /** The row of {@code peer}. */
        static Row of(ComparedPeer peer) {
            return new Row(peer.name(), peer.library(), peer.transport());
        }
    }

    /** The name in the environment of when the comparison began. */
    static final String DATE = "Date";

    /** The name in the environment of when the comparison went on after an interruption. */
    private static final String RESUMED = "Resumed";

    /** The beginning of the names in the environment of what was measured later, before the date. */
    static final String ADDED = "Added ";

    /** What cells of one report must have in common, so that a reader may look from one to another. */
    private static final List<String> SAME = List.of("CPU", "Cores", "JDK", "Netty");

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    /** Reads a file that {@link #write} has written. */
    static Results read(Path file) throws IOException {
        Results results = new Results(new LinkedHashMap<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            try {
                JsonParser.parseString(line).getAsJsonObject().entrySet().forEach(results::add);
            } catch (JsonParseException | IllegalStateException | IllegalArgumentException e) {
                throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
            }
        }
        if (results.cells.isEmpty()) {
            throw new IOException(file + ": no cell (expected: the results of a comparison)");
        }
        return results;
    }

    private void add(Map.Entry<String, JsonElement> line) {
        JsonElement value = line.getValue();
        switch (line.getKey()) {
            case "environment" ->
                value.getAsJsonObject()
                        .entrySet()
                        .forEach(entry ->
                                environment.put(entry.getKey(), entry.getValue().getAsString()));
            case "cell" -> cells.add(GSON.fromJson(value, Cell.class));
            case "peer" -> peers.add(GSON.fromJson(value, Row.class));
            case "sample" -> samples.add(GSON.fromJson(value, Sample.class));
            default ->
                throw new IllegalArgumentException(
                        "\"" + line.getKey() + "\" (expected: environment, cell, peer or sample)");
        }
    }

    /** Writes the file, and the directories above it. */
    void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (Writer writer = Files.newBufferedWriter(file)) {
            for (Map.Entry<String, String> entry : environment.entrySet()) {
                write("environment", Map.of(entry.getKey(), entry.getValue()), writer);
            }
            for (Cell cell : cells) {
                write("cell", cell, writer);
            }
            for (Row peer : peers) {
                write("peer", peer, writer);
            }
            for (Sample sample : samples) {
                write("sample", sample, writer);
            }
        }
    }

    private static void write(String kind, Object value, Writer writer) throws IOException {
        JsonObject line = new JsonObject();
        line.add(kind, GSON.toJsonTree(value));
        GSON.toJson(line, writer);
        writer.write('\n');
    }

    /** The same machine, cells and peers with {@code samples}. */
    Results with(List<Sample> samples) {
        return new Results(environment, cells, peers, samples);
    }

    /**
     * The environment of a comparison that goes on with this one in {@code now}.
     *
     * @throws IOException if it would not be the same comparison: another commit, machine, JDK or option
     */
    Map<String, String> resumed(Map<String, String> now) throws IOException {
        Map<String, String> both = new LinkedHashMap<>(environment);
        both.put(RESUMED, now.getOrDefault(DATE, ""));
        Set<String> names = new LinkedHashSet<>(environment.keySet());
        names.addAll(now.keySet());
        names.removeAll(Set.of(DATE, RESUMED));
        for (String name : names) {
            String expected = environment.getOrDefault(name, "");
            String found = now.getOrDefault(name, "");
            if (!found.equals(expected)) {
                throw new IOException("--resume: " + name + ": \"" + found + "\" (expected: \"" + expected
                        + "\", as the interrupted comparison had)");
            }
        }
        return both;
    }

    /**
     * These results with the cells of {@code later}, which take the place of those with the same ids.
     *
     * @throws IOException if they are of another machine, JDK or Netty, or if a cell would lose a peer
     */
    Results plus(Results later) throws IOException {
        for (String name : SAME) {
            String expected = environment.getOrDefault(name, "");
            String found = later.environment.getOrDefault(name, "");
            if (!found.equals(expected)) {
                throw new IOException("--add: " + name + ": \"" + found + "\" (expected: \"" + expected
                        + "\", as the other cells have)");
            }
        }
        Set<String> measured = new LinkedHashSet<>();
        later.samples.forEach(sample -> measured.add(sample.cell()));
        for (String cell : measured) {
            for (Row row : rows(cell)) {
                if (!later.rows(cell).contains(row)) {
                    throw new IOException("--add: " + cell + " without " + row.name()
                            + " (expected: all peers that the cell has, or its row would be lost)");
                }
            }
        }
        Map<String, Cell> cells = new LinkedHashMap<>();
        this.cells.forEach(cell -> cells.put(cell.id(), cell));
        later.cells.stream().filter(cell -> measured.contains(cell.id())).forEach(cell -> cells.put(cell.id(), cell));
        Set<Row> rows = new LinkedHashSet<>(peers);
        rows.addAll(later.peers);
        List<Sample> all = new ArrayList<>(samples);
        all.removeIf(sample -> measured.contains(sample.cell()));
        all.addAll(later.samples);
        Map<String, String> both = new LinkedHashMap<>(environment);
        both.put(ADDED + later.environment.getOrDefault(DATE, ""), later.described());
        return new Results(both, List.copyOf(cells.values()), List.copyOf(rows), List.copyOf(all));
    }

    /** What a reader has to know of cells that were measured apart from the others. */
    private String described() {
        return "cells " + environment.getOrDefault("Cells", "of the profile") + ", commit "
                + environment.getOrDefault("Commit", "unknown") + ", " + environment.getOrDefault("Windows", "several")
                + " windows of " + environment.getOrDefault("Each window", "some time") + " after "
                + environment.getOrDefault("Warm-up", "some time")
                + (environment.containsKey("Kernel") ? ", kernel " + environment.get("Kernel") : "");
    }

    /** The cell of this id, if it was measured. */
    Optional<Cell> cell(String id) {
        return cells.stream().filter(cell -> cell.id().equals(id)).findFirst();
    }

    /** The rows that have a window of {@code cell}, in the order of the peers. */
    List<Row> rows(String cell) {
        Set<String> measured = new HashSet<>();
        for (Sample sample : samples) {
            if (sample.cell().equals(cell)) {
                measured.add(sample.peer());
            }
        }
        return peers.stream().filter(row -> measured.contains(row.name())).toList();
    }

    /** The windows of one cell and one peer. */
    List<Sample> samples(String cell, String peer) {
        return samples.stream().filter(sample -> sample.isOf(cell, peer)).toList();
    }

    /** How many windows of a row were measured if some were not, such as "8 of 9 windows"; empty if all were. */
    String measuredPart(String cell, String peer) {
        long measured = samples(cell, peer).stream().filter(Sample::measured).count();
        int laps = samples.stream()
                .filter(sample -> sample.cell().equals(cell))
                .mapToInt(Sample::lap)
                .max()
                .orElse(0);
        return measured == laps ? "" : measured + " of " + laps + " windows";
    }

    /** One figure over all windows; absent if no window has it. */
    Optional<Spread> spread(String cell, String peer, Metric metric) {
        return spread(samples, cell, peer, metric);
    }

    /** As {@link #spread(String, String, Metric)}, of {@code samples}. */
    static Optional<Spread> spread(List<Sample> samples, String cell, String peer, Metric metric) {
        List<Double> values = List.copyOf(byLap(samples, cell, peer, metric).values());
        return values.isEmpty() ? Optional.empty() : Optional.of(Spread.of(values));
    }

    /**
     * How many times the figure of {@code below} that of {@code above} is, in the windows of the same laps; absent if
     * they have no lap in common.
     */
    Optional<Ratio> ratio(String cell, String above, String below, Metric metric) {
        Map<Integer, Double> dividends = byLap(samples, cell, above, metric);
        List<Double> pairs = new ArrayList<>();
        byLap(samples, cell, below, metric).forEach((lap, divisor) -> {
            if (dividends.containsKey(lap) && divisor > 0) {
                pairs.add(dividends.get(lap) / divisor);
            }
        });
        return pairs.isEmpty() ? Optional.empty() : Optional.of(Ratio.of(pairs));
    }

    private static Map<Integer, Double> byLap(List<Sample> samples, String cell, String peer, Metric metric) {
        Map<Integer, Double> values = new TreeMap<>();
        for (Sample sample : samples) {
            if (sample.isOf(cell, peer) && sample.values().containsKey(metric)) {
                values.put(sample.lap(), sample.values().get(metric));
            }
        }
        return values;
    }

    /**
     * The row of {@code library} that a row on {@code transport} is compared with: the one on the same transport,
     * otherwise the first that was measured.
     */
    Optional<Row> counterpart(String cell, String library, String transport) {
        List<Row> candidates =
                rows(cell).stream().filter(row -> row.library().equals(library)).toList();
        return candidates.stream()
                .filter(row -> row.transport().equals(transport))
                .findFirst()
                .or(() -> candidates.stream().findFirst());
    }
}
