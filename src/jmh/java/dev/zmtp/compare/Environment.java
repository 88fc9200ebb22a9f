package dev.zmtp.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.util.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The machine and the versions of a comparison. */
final class Environment {

    private Environment() {}

    /** The machine, the versions and the flags, by the names that the report prints. */
    static Map<String, String> describe() throws IOException, InterruptedException {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                Results.DATE,
                OffsetDateTime.now(ZoneOffset.UTC)
                        .truncatedTo(ChronoUnit.SECONDS)
                        .toString());
        facts.put("Commit", commit());
        facts.put("Setting", "same-host loopback: both processes share this machine, over TCP on 127.0.0.1");
        facts.put("CPU", find("/proc/cpuinfo", "model name\\s*:\\s*(.*)").orElse("unknown"));
        facts.put("Cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        facts.put("Memory", memory());
        facts.put("Kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put(
                "JDK",
                System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version") + " of "
                        + System.getProperty("java.vendor"));
        facts.put("JVM flags", String.join(" ", ComparedPeers.jvmFlags()));
        facts.put(
                "Further JVM flags of netty4-zmtp",
                String.join(" ", ComparedPeers.jvmFlagsOf(ComparedPeers.PREDECESSOR)));
        facts.put("Netty", netty());
        facts.put(
                "Compared with",
                String.join(", ", ComparedPeers.versions()) + ", libzmq " + libzmq() + ", omq " + omq());
        facts.put("Open files", Long.toString(maxOpenFiles()));
        return facts;
    }

    /**
     * How many files a process may open. The JVM raises its own limit to the hard limit, which its children inherit.
     */
    static long maxOpenFiles() throws IOException {
        return find("/proc/self/limits", "Max open files\\s+([0-9]+)")
                .map(Long::parseLong)
                .orElse(Long.MAX_VALUE);
    }

    private static String commit() throws IOException, InterruptedException {
        Optional<Tools.Printed> head = Tools.run("git", "rev-parse", "HEAD");
        if (head.isEmpty() || head.get().exitCode() != 0) {
            return "unknown";
        }
        // The files that the comparison itself writes do not change what it measures.
        Optional<Tools.Printed> changes =
                Tools.run("git", "status", "--porcelain", "--", ".", ":!benchmarks.md", ":!docs/benchmarks");
        boolean clean = changes.isPresent() && changes.get().text().isEmpty();
        return head.get().text() + (clean ? "" : ", with changes");
    }

    private static String memory() throws IOException {
        return find("/proc/meminfo", "MemTotal:\\s*([0-9]+) kB")
                .map(kib -> String.format(Locale.ROOT, "%.1f GiB", Long.parseLong(kib) / (double) (1 << 20)))
                .orElse("unknown");
    }

    private static String netty() {
        Version version = Version.identify().get("netty-transport");
        return version == null ? "unknown" : version.artifactVersion();
    }

    /** The version that the header states which the program is compiled with. */
    private static String libzmq() throws IOException, InterruptedException {
        Optional<Tools.Printed> macros = Tools.run("cc", "-dM", "-E", "-include", "zmq.h", "-x", "c", "/dev/null");
        if (macros.isEmpty() || macros.get().exitCode() != 0) {
            return "(not found)";
        }
        StringBuilder version = new StringBuilder();
        for (String part : new String[] {"MAJOR", "MINOR", "PATCH"}) {
            Matcher matcher = Pattern.compile("#define ZMQ_VERSION_" + part + " ([0-9]+)")
                    .matcher(macros.get().text());
            version.append(version.isEmpty() ? "" : ".").append(matcher.find() ? matcher.group(1) : "?");
        }
        return version.toString();
    }

    private static String omq() throws IOException {
        return find(NativePrograms.OMQ_SOURCES.resolve("Cargo.toml").toString(), "omq-tokio = \"=([0-9.]+)\"")
                .orElse("(not found)");
    }

    private static Optional<String> find(String file, String regex) throws IOException {
        Path path = Path.of(file);
        if (!Files.isReadable(path)) {
            return Optional.empty();
        }
        Matcher matcher = Pattern.compile(regex).matcher(new String(Files.readAllBytes(path), UTF_8));
        return matcher.find() ? Optional.of(matcher.group(1).strip()) : Optional.empty();
    }
}
