package dev.zmtp.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.Function;

/** Makes the programs of peers that are not in Java. */
final class NativePrograms {

    private static final Path LIBZMQ_SOURCE = Path.of("src", "jmh", "c", "libzmq_peer.c");
    /** The directory of the program for omq. */
    static final Path OMQ_SOURCES = Path.of("src", "jmh", "rust");

    private static final Path OMQ_MANIFEST = Path.of("Cargo.toml");
    private static final Path OMQ_MAIN = Path.of("src", "main.rs");
    private static final String DEBIAN = "on Debian: apt-get install gcc libzmq3-dev";

    /** The dependencies are compiled, too, if they have not been before. */
    private static final int MINUTES_FOR_CARGO = 10;

    private NativePrograms() {}

    /** Compiles libzmq's program; returns why that cannot be, or an empty string. */
    static String compile(Path program) throws IOException, InterruptedException {
        if (!Files.exists(LIBZMQ_SOURCE)) {
            return LIBZMQ_SOURCE + " is missing";
        }
        Files.createDirectories(program.getParent());
        return Tools.run("cc", "-O2", "-o", program.toString(), LIBZMQ_SOURCE.toString(), "-lzmq", "-lpthread")
                .map(printed -> missing(
                        printed,
                        text -> text.contains("zmq.h") || text.contains("-lzmq")
                                ? "libzmq's header or library was not found (" + DEBIAN + ")"
                                : "cc failed: " + text.lines().findFirst().orElse("")))
                .orElse("there is no cc (" + DEBIAN + ")");
    }

    /**
     * Builds omq's program in {@code directory}, where its sources are copied first: cargo writes beside them. Returns why
     * that cannot be, or an empty string.
     */
    static String build(Path directory) throws IOException, InterruptedException {
        if (!Files.exists(OMQ_SOURCES)) {
            return OMQ_SOURCES + " is missing";
        }
        Files.createDirectories(directory.resolve(OMQ_MAIN).getParent());
        for (Path file : new Path[] {OMQ_MANIFEST, OMQ_MAIN}) {
            Files.copy(OMQ_SOURCES.resolve(file), directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        String manifest = directory.resolve(OMQ_MANIFEST).toString();
        return Tools.run(MINUTES_FOR_CARGO * 60, "cargo", "build", "--quiet", "--release", "--manifest-path", manifest)
                .map(printed -> missing(
                        printed,
                        text -> "cargo failed: "
                                + text.lines()
                                        .filter(line -> line.startsWith("error"))
                                        .findFirst()
                                        .orElse(text)))
                .orElse("there is no cargo, or it takes too long");
    }

    private static String missing(Tools.Printed printed, Function<String, String> reason) {
        return printed.exitCode() == 0 ? "" : reason.apply(printed.text());
    }
}
