package dev.zmtp.cli;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Prints the percentiles of round trips. */
final class LatencyReport {

    private static final double[] PERCENTILES = {50, 90, 99, 99.9, 99.99, 100};

    static final double NANOS_PER_MICRO = 1_000;

    /** Maximum time of a histogram. */
    static final long MAX_NANOS = TimeUnit.HOURS.toNanos(1);

    /** Number of significant digits of a histogram. */
    static final int DIGITS = 3;

    private LatencyReport() {}

    /** Returns a histogram for 1 ns to 1 h with three digits. */
    static Histogram histogram() {
        return new Histogram(1, MAX_NANOS, DIGITS);
    }

    static void print(Console console, String title, Histogram roundTrips) {
        console.printLine(String.format(Locale.ROOT, "%-34s %10s %13s", title, "round trip", "~ one way"));
        for (double percentile : PERCENTILES) {
            long nanos = roundTrips.getValueAtPercentile(percentile);
            console.printLine(String.format(
                    Locale.ROOT,
                    "  %-32s %10s %13s",
                    shown(percentile) + " %",
                    Greeter.time(nanos),
                    Greeter.time(nanos / 2)));
        }
    }

    static String shown(double percentile) {
        return percentile == Math.rint(percentile)
                ? String.format(Locale.ROOT, "%.0f", percentile)
                : String.valueOf(percentile);
    }

    static JsonObject json(Histogram roundTrips) {
        JsonObject all = new JsonObject();
        for (double percentile : PERCENTILES) {
            all.addProperty(shown(percentile), roundTrips.getValueAtPercentile(percentile) / NANOS_PER_MICRO);
        }
        return all;
    }

    /** Writes all percentiles in microseconds, in the format that HdrHistogram's plotter reads. */
    static void write(Path file, Histogram roundTrips) {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.UTF_8)) {
            roundTrips.outputPercentileDistribution(out, NANOS_PER_MICRO);
            if (out.checkError()) {
                throw CliException.failed("--hdr " + file + ": not everything was written");
            }
        } catch (IOException e) {
            throw CliException.failed("--hdr " + file + ": " + Main.text(e));
        }
    }
}
