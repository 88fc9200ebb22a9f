package dev.zmtp.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations as users write them, such as {@code 5s} and {@code 200ms}. */
final class Durations implements ITypeConverter<Duration> {

    private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ns|us|ms|s|m|h)");

    @Override
    public Duration convert(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new TypeConversionException("'" + text + "' (expected: a duration, such as 5s, 200ms or 1.5m)");
        }
        return Duration.ofNanos(Math.round(Double.parseDouble(form.group(1)) * nanos(form.group(2))));
    }

    private static double nanos(String unit) {
        return switch (unit) {
            case "ns" -> 1;
            case "us" -> 1e3;
            case "ms" -> 1e6;
            case "s" -> 1e9;
            case "m" -> 60e9;
            default -> 3_600e9;
        };
    }
}
