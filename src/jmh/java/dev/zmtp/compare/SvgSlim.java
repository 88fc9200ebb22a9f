package dev.zmtp.compare;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Makes the file of a picture smaller that looks the same. XChart draws each letter as a shape of its own, repeats the
 * style at each line, and writes coordinates with up to 15 digits. Here each letter is drawn once and used from there,
 * a style has a name, and a coordinate one decimal.
 */
final class SvgSlim {

    private static final Pattern PATH = Pattern.compile("<path d=\"([^\"]*)\" style=\"([^\"]*)\"/>");
    private static final Pattern COMMAND = Pattern.compile("([MLQCZ])([^MLQCZ]*)");
    private static final Pattern COORDINATE = Pattern.compile("-?[0-9.]+(?:E-?[0-9]+)?");

    /** Lines of one style, one after the other. */
    private static final Pattern LINES =
            Pattern.compile("<line style=\"([^\"]*)\"[^>]*/>(?:\\s*<line style=\"\\1\"[^>]*/>)+");

    private static final Pattern LINE = Pattern.compile("x1=\"(.*?)\" x2=\"(.*?)\" y1=\"(.*?)\" y2=\"(.*?)\"");
    private static final Pattern NUMBER = Pattern.compile("(?<=[\"( ])-?[0-9]+\\.[0-9]+(?=[\") ])");
    private static final Pattern STYLE = Pattern.compile("style=\"([^\"]*)\"");

    /** Its number differs from run to run. */
    private static final Pattern CLIP = Pattern.compile("clip[0-9]+");

    private static final String START = "m0 0";

    /** A command of a path, and its points: horizontal and vertical in turns. */
    private record Step(String command, List<Double> at) {}

    /** What is drawn from one point on, relative to it. */
    private record Shape(double x, double y, String path) {}

    private final Map<String, Integer> uses = new LinkedHashMap<>();
    private final Map<String, String> ids = new LinkedHashMap<>();
    private final Map<String, String> styles = new LinkedHashMap<>();
    private final Map<String, String> clips = new LinkedHashMap<>();

    private SvgSlim() {}

    /** The smaller one of {@code svg}, which XChart has written. */
    static String of(String svg) {
        return new SvgSlim().slim(svg.substring(svg.indexOf("<svg")));
    }

    private String slim(String svg) {
        PATH.matcher(svg)
                .results()
                .flatMap(path -> shapes(path.group(1)).stream())
                .forEach(shape -> uses.merge(shape.path(), 1, Integer::sum));
        String text = replace(PATH, svg, path -> drawn(path.group(1), path.group(2)));
        text = replace(LINES, text, lines -> joined(lines.group(), lines.group(1)));
        text = replace(NUMBER, text, number -> rounded(number.group()));
        text = replace(STYLE, text, style -> "class=\"" + name(styles, style.group(1), "c") + "\"");
        text = replace(CLIP, text, clip -> name(clips, clip.group(), "clip"));
        text = text.replaceAll("\n\\s+", "\n");
        int end = text.indexOf('>') + 1;
        return text.substring(0, end) + definitions() + text.substring(end);
    }

    private static String replace(Pattern pattern, String text, Function<MatchResult, String> replacement) {
        return pattern.matcher(text).replaceAll(match -> Matcher.quoteReplacement(replacement.apply(match)));
    }

    private static String name(Map<String, String> names, String key, String prefix) {
        return names.computeIfAbsent(key, unnamed -> prefix + names.size());
    }

    private String definitions() {
        StringBuilder text = new StringBuilder("\n<style>\n");
        styles.forEach((style, name) -> text.append('.')
                .append(name)
                .append('{')
                // A style may refer to a clip.
                .append(replace(CLIP, style, clip -> name(clips, clip.group(), "clip")))
                .append("}\n"));
        text.append("</style>\n<defs>\n");
        ids.forEach((path, id) -> text.append("<path id=\"")
                .append(id)
                .append("\" d=\"")
                .append(path)
                .append("\"/>\n"));
        return text.append("</defs>").toString();
    }

    /** What draws the path {@code data}: each of its shapes where there is one like it, and itself otherwise. */
    private String drawn(String data, String style) {
        List<Shape> shapes = shapes(data);
        String styled = " style=\"" + style + "\"";
        String each = shapes.size() == 1 ? styled : "";
        String text = shapes.stream().map(shape -> drawn(shape, each)).collect(Collectors.joining("\n"));
        return shapes.size() < 2 ? text : "<g" + styled + ">\n" + text + "\n</g>";
    }

    private String drawn(Shape shape, String style) {
        String x = number(tenths(shape.x()));
        String y = number(tenths(shape.y()));
        if (uses.getOrDefault(shape.path(), 0) < 2) {
            String rest = shape.path().substring(START.length());
            return "<path" + style + " d=\"M" + x + " " + y + rest + "\"/>";
        }
        return String.format(
                Locale.ROOT, "<use%s href=\"#%s\" x=\"%s\" y=\"%s\"/>", style, name(ids, shape.path(), "s"), x, y);
    }

    /**
     * The shapes of a path, which are letters if it is a text. What is above each other belongs together: a hole is one
     * only within its letter.
     */
    private static List<Shape> shapes(String data) {
        List<List<Step>> groups = new ArrayList<>();
        double left = 0;
        double right = 0;
        for (List<Step> outline : outlines(data)) {
            List<Double> all =
                    outline.stream().flatMap(step -> step.at().stream()).toList();
            double from = Double.POSITIVE_INFINITY;
            double to = Double.NEGATIVE_INFINITY;
            for (int i = 0; i < all.size(); i += 2) {
                from = Math.min(from, all.get(i));
                to = Math.max(to, all.get(i));
            }
            if (!groups.isEmpty() && from < right && to > left) {
                groups.get(groups.size() - 1).addAll(outline);
                left = Math.min(left, from);
                right = Math.max(right, to);
            } else {
                groups.add(new ArrayList<>(outline));
                left = from;
                right = to;
            }
        }
        return groups.stream().map(SvgSlim::shape).toList();
    }

    private static List<List<Step>> outlines(String data) {
        List<List<Step>> outlines = new ArrayList<>();
        COMMAND.matcher(data).results().forEach(command -> {
            if (command.group(1).equals("M")) {
                outlines.add(new ArrayList<>());
            }
            List<Double> at = COORDINATE
                    .matcher(command.group(2))
                    .results()
                    .map(number -> Double.valueOf(number.group()))
                    .toList();
            outlines.get(outlines.size() - 1).add(new Step(command.group(1), at));
        });
        return outlines;
    }

    private static Shape shape(List<Step> steps) {
        double left = steps.get(0).at().get(0);
        double top = steps.get(0).at().get(1);
        StringBuilder path = new StringBuilder();
        // Each is relative to where the pen is after rounding, so that errors do not add up.
        long x = 0;
        long y = 0;
        long startX = 0;
        long startY = 0;
        for (Step step : steps) {
            path.append(step.command().toLowerCase(Locale.ROOT));
            long toX = step.at().isEmpty() ? startX : x;
            long toY = step.at().isEmpty() ? startY : y;
            for (int i = 0; i < step.at().size(); i += 2) {
                toX = tenths(step.at().get(i) - left);
                toY = tenths(step.at().get(i + 1) - top);
                append(path, i > 0, toX - x);
                append(path, true, toY - y);
            }
            x = toX;
            y = toY;
            if (step.command().equals("M")) {
                startX = x;
                startY = y;
            }
        }
        return new Shape(left, top, path.toString());
    }

    private static void append(StringBuilder path, boolean separated, long tenths) {
        path.append(separated && tenths >= 0 ? " " : "").append(number(tenths));
    }

    /** Lines as one path. */
    private static String joined(String lines, String style) {
        String data = LINE.matcher(lines)
                .results()
                .map(line -> "M" + rounded(line.group(1)) + " " + rounded(line.group(3)) + "L" + rounded(line.group(2))
                        + " " + rounded(line.group(4)))
                .collect(Collectors.joining());
        return "<path style=\"" + style + "\" d=\"" + data + "\"/>";
    }

    private static String rounded(String number) {
        return number(tenths(Double.parseDouble(number)));
    }

    private static long tenths(double value) {
        return Math.round(value * 10);
    }

    private static String number(long tenths) {
        return tenths % 10 == 0 ? Long.toString(tenths / 10) : Double.toString(tenths / 10.0);
    }
}
