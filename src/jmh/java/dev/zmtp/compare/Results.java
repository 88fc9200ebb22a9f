package dev.zmtp.compare;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Everything that a comparison has measured, and the machine: the source of the report, and the content of the JSON
 * file.
 *
 * @param environment names and values that describe the machine and the versions, in the order of the report
 * @param cells what was measured
 * @param peers the peers
 * @param samples the runs, in chronological order
 */
record Results(Map<String, String> environment, List<Cell> cells, List<Row> peers, List<Sample> samples) {

    /** A peer without its command, which has paths of one machine. */
    record Row(String name, String library, String transport) {

        /** The row of {@code peer}. */
        static Row of(ComparedPeer peer) {
            return new Row(peer.name(), peer.library(), peer.transport());
        }
    }

    private static final Gson GSON =
            new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create();

    /** Reads a file that {@link #write} has written. */
    static Results read(Path file) throws IOException {
        try (Reader reader = Files.newBufferedReader(file)) {
            Results results = GSON.fromJson(reader, Results.class);
            if (results == null
                    || results.environment == null
                    || results.cells == null
                    || results.peers == null
                    || results.samples == null) {
                throw new IOException(file + ": not the results of a comparison");
            }
            return results;
        } catch (JsonParseException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** Writes the file, and the directories above it. */
    void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (Writer writer = Files.newBufferedWriter(file)) {
            GSON.toJson(this, writer);
            writer.write('\n');
        }
    }

    /** The cell of this id, if it was measured. */
    Optional<Cell> cell(String id) {
        return cells.stream().filter(cell -> cell.id().equals(id)).findFirst();
    }

    /** The rows that have a run of {@code cell}, in the order of the peers. */
    List<Row> rows(String cell) {
        return peers.stream()
                .filter(row -> !samples(cell, row.name()).isEmpty())
                .toList();
    }

    /** The runs of one cell and one peer. */
    List<Sample> samples(String cell, String peer) {
        return samples.stream()
                .filter(sample -> sample.cell().equals(cell) && sample.peer().equals(peer))
                .toList();
    }

    /** One figure over all rounds; absent if no round has it. */
    Optional<Spread> spread(String cell, String peer, Metric metric) {
        List<Double> values = samples(cell, peer).stream()
                .filter(sample -> sample.values().containsKey(metric))
                .map(sample -> sample.values().get(metric))
                .toList();
        return values.isEmpty() ? Optional.empty() : Optional.of(Spread.of(values));
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
