package dev.zmtp.compare;

import java.io.IOException;
import java.nio.file.Path;

/** Some windows of a real comparison: cells of each kind of picture and table, and few peers. */
final class Fixture {

    private Fixture() {}

    static Results results() throws IOException {
        return Results.read(Path.of("src", "test", "resources", "compare", "results.jsonl"));
    }
}
