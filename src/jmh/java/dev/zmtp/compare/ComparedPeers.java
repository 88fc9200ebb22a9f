package dev.zmtp.compare;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** All peers, and how the program of each is started. */
final class ComparedPeers {

    /** This codec. */
    static final String OURS = "netty-zmtp";

    /** The sockets above this codec. */
    static final String SOCKETS = "netty-zmtp sockets";

    /** The bytes of {@link #OURS} without a codec: what Netty itself can do. */
    static final String RAW = "raw-netty";

    /** The messages between two flushes of the codecs, in {@code peer.CodecTraffic}. */
    private static final int BATCH = 128;

    /** The end of the name of {@link #RAW} where it flushes as often as codecs do. */
    static final String BATCHED = ", " + BATCH + " a flush";

    /** The messages of 100 bytes in 64 KiB, the most that this codec gives the transport at a time. */
    private static final int FULL_BATCH = 640;

    /** The end of the name of {@link #LEAST} where it flushes only what fills its buffer. */
    static final String FULL = ", " + FULL_BATCH + " a flush";

    /** The end of the name of {@link #RAW} where it puts each message together that it receives. */
    static final String KEEPING = ", keeping";

    /** The end of the name of {@link #OURS} with few connections, in a cell with many. */
    static final String FEW = ", 10 connections";

    /** The end of the name of {@link #OURS} or {@link #SOCKETS} over TCP, in a cell of another transport. */
    static final String TCP = ", TCP";

    /** The end of the name of {@link #OURS} in another build. */
    static final String BASELINE = ", baseline";

    /** The least pair of handlers that can do the work of a codec. */
    static final String LEAST = "least-handlers";

    /** The codec that this one succeeds, on the Netty of its time. */
    static final String PREDECESSOR = "netty4-zmtp";

    /** ZeroMQ in Java. */
    static final String JEROMQ = "jeromq";

    /** ZeroMQ in C++. */
    static final String LIBZMQ = "libzmq";

    /** ZeroMQ in Rust. */
    static final String OMQ = "omq";

    /** Messages through memory that is shared, without a protocol. */
    static final String AERON = "aeron";

    /** The ring below our shared memory, without event loops and a protocol. */
    static final String RING = "raw-ring";

    /** The ways in which {@link #SOCKETS} are used, by the end of the name, besides the usual one. */
    private static final Map<String, String> VIEWS = new LinkedHashMap<>();

    static {
        VIEWS.put(", by hand", "view=hand");
        VIEWS.put(", thread", "view=thread");
        VIEWS.put(", futures", "view=futures");
        VIEWS.put(", blocking", "view=blocking");
        VIEWS.put(", request", "view=request");
        VIEWS.put(", virtual threads", "view=virtual");
        VIEWS.put(", to REP", "service=rep");
        VIEWS.put(", one loop", "loops=one");
    }

    /** The transports of Netty; the first is in every JVM. */
    static final List<String> TRANSPORTS = List.of("nio", "epoll", "io_uring");

    private static final String MAIN = "dev.zmtp.compare.peer.PeerMain";

    /** Where the compiled programs are, beside what Maven copies there. */
    private static final Path DIRECTORY = Path.of("target", "compare");

    private static final Path PREDECESSOR_JARS = DIRECTORY.resolve("netty4-zmtp");

    /** Netty 4.0 and Aeron use internals that the JDK does not export. */
    private static final Map<String, List<String>> FLAGS_OF_ONE = Map.of(
            PREDECESSOR,
            List.of(
                    "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"),
            AERON,
            List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"));

    private ComparedPeers() {}

    /**
     * The flags of every JVM. The parallel collector has no thread that runs beside the program: on few
     * cores such a thread would take CPU time from the other end.
     */
    static List<String> jvmFlags() {
        List<String> flags = new ArrayList<>(List.of("-Xms1g", "-Xmx1g", "-XX:+UseParallelGC"));
        if (Runtime.version().feature() >= 22) {
            flags.add("--enable-native-access=ALL-UNNAMED");
        }
        return flags;
    }

    /** The flags that only the JVMs of {@code library} have. */
    static List<String> jvmFlagsOf(String library) {
        return FLAGS_OF_ONE.getOrDefault(library, List.of());
    }

    /**
     * The peers whose name matches {@code wanted}, with those of the class path {@code baseline} if there is one. The
     * programs of libzmq and omq are compiled if they are among them, and {@code inCells} says that one is needed.
     */
    static List<ComparedPeer> all(Pattern wanted, Predicate<String> inCells, Optional<String> baseline)
            throws IOException, InterruptedException {
        List<ComparedPeer> peers = new ArrayList<>();
        String classPath = System.getProperty("java.class.path");
        for (String library : List.of(OURS, SOCKETS, RAW, LEAST)) {
            for (String transport : TRANSPORTS) {
                peers.add(jvm(library, transport, "", classPath, List.of("transport=" + transport), ""));
            }
        }
        for (String transport : TRANSPORTS) {
            String key = "transport=" + transport;
            peers.add(jvm(OURS, transport, FEW, classPath, List.of(key, "connections=10"), ""));
            peers.add(jvm(OURS, transport, TCP, classPath, List.of(key, "medium=tcp"), ""));
            peers.add(jvm(SOCKETS, transport, TCP, classPath, List.of(key, "medium=tcp"), ""));
            peers.add(jvm(RAW, transport, BATCHED, classPath, List.of(key, "flush=" + BATCH), ""));
            peers.add(jvm(LEAST, transport, FULL, classPath, List.of(key, "flush=" + FULL_BATCH), ""));
            peers.add(jvm(RAW, transport, KEEPING, classPath, List.of(key, "received=kept"), ""));
        }
        VIEWS.forEach((end, key) -> peers.add(jvm(SOCKETS, "nio", end, classPath, List.of("transport=nio", key), "")));
        baseline.ifPresent(other -> {
            for (String transport : TRANSPORTS) {
                String key = "transport=" + transport;
                peers.add(jvm(OURS, transport, BASELINE, other, List.of(key), ""));
                peers.add(jvm(SOCKETS, transport, BASELINE, other, List.of(key), ""));
            }
        });
        peers.add(predecessor());
        peers.add(jvm(JEROMQ, "nio", "", classPath, List.of(), ""));
        peers.add(jvm(AERON, "nio", "", classPath, List.of(), ""));
        peers.add(jvm(RING, "nio", "", classPath, List.of(), ""));
        peers.removeIf(peer -> !wanted.matcher(peer.name()).find());
        // Only now, as they take compilers, a second and two minutes.
        if (wanted.matcher(LIBZMQ).find() && inCells.test(LIBZMQ)) {
            peers.add(libzmq());
        }
        if (wanted.matcher(OMQ).find() && inCells.test(OMQ)) {
            peers.add(omq());
        }
        return List.copyOf(peers);
    }

    /**
     * The names of what is compared with versions of its own, such as {@code jeromq 0.6.0}, as far as the names of jars
     * show them.
     */
    static List<String> versions() throws IOException {
        List<String> names = new ArrayList<>();
        String[] classPath = System.getProperty("java.class.path").split(Pattern.quote(File.pathSeparator), -1);
        Stream.concat(Stream.of(classPath).map(Path::of), predecessorJars().stream())
                .map(path -> path.getFileName().toString())
                .filter(name -> name.matches("(jeromq|aeron-driver|netty4-zmtp|netty-all)-[0-9].*\\.jar"))
                .map(name -> name.replaceFirst("\\.jar$", "").replaceFirst("-(?=[0-9])", " "))
                .distinct()
                .forEach(names::add);
        return names;
    }

    private static ComparedPeer jvm(
            String library, String transport, String variant, String classPath, List<String> keys, String missing) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmFlags());
        command.addAll(jvmFlagsOf(library));
        command.addAll(List.of("-cp", classPath, MAIN, library));
        boolean onlyOne = List.of(PREDECESSOR, JEROMQ, AERON, RING).contains(library);
        String name = onlyOne ? library : library + " " + transport + variant;
        return new ComparedPeer(name, library, transport, command, keys, missing);
    }

    private static ComparedPeer predecessor() throws IOException {
        List<Path> jars = predecessorJars();
        List<String> classPath = new ArrayList<>();
        classPath.add(classes().toString());
        jars.forEach(jar -> classPath.add(jar.toString()));
        return jvm(
                PREDECESSOR,
                "nio",
                "",
                String.join(File.pathSeparator, classPath),
                List.of(),
                jars.isEmpty() ? "its jars are not in " + PREDECESSOR_JARS + " (mvn -Pcompare copies them)" : "");
    }

    private static List<Path> predecessorJars() throws IOException {
        if (!Files.isDirectory(PREDECESSOR_JARS)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(PREDECESSOR_JARS)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .sorted()
                    .toList();
        }
    }

    /** The directory of this class, where the programs are too. */
    private static Path classes() throws IOException {
        try {
            return Path.of(ComparedPeers.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IOException("The directory of the classes has no path", e);
        }
    }

    private static ComparedPeer libzmq() throws IOException, InterruptedException {
        Path program = DIRECTORY.resolve("libzmq_peer").toAbsolutePath();
        return program(LIBZMQ, program, NativePrograms.compile(program));
    }

    private static ComparedPeer omq() throws IOException, InterruptedException {
        Path directory = DIRECTORY.resolve("omq_peer").toAbsolutePath();
        Path program = directory.resolve(Path.of("target", "release", "omq_peer"));
        return program(OMQ, program, NativePrograms.build(directory));
    }

    private static ComparedPeer program(String library, Path program, String missing) {
        return new ComparedPeer(library, library, "epoll", List.of(program.toString()), List.of(), missing);
    }
}
