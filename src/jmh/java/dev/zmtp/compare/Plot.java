package dev.zmtp.compare;

import dev.zmtp.compare.Results.Row;
import java.awt.BasicStroke;
import java.awt.Color;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.ChartTheme;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;

/**
 * One picture: a line for each peer through its medians, and at each median the quartiles.
 *
 * @param name the name of its file, without the extension
 * @param title what stands above it
 * @param positionTitle what the positions are, below the horizontal axis
 * @param valueTitle what the values are and their unit, beside the vertical axis
 * @param positions the names of the positions on the horizontal axis, at equal distances
 * @param logarithmic whether the vertical axis is logarithmic; otherwise it starts at zero
 * @param lines the peers
 */
record Plot(
        String name,
        String title,
        String positionTitle,
        String valueTitle,
        List<String> positions,
        boolean logarithmic,
        List<Line> lines) {

    /** What one peer reached. */
    record Line(Row peer, List<Point> points) {}

    /** What a peer reached at one position, counted from 0. */
    record Point(int position, Spread value) {}

    private static final int WIDTH = 900;
    private static final int HEIGHT = 520;

    /** The width that the marks of all peers take at one position, so that ranges stand side by side. */
    private static final double SPREAD = 0.36;

    /** The most that two peers beside each other are apart. */
    private static final double STEP = 0.05;

    private static final double MARGIN = 0.4;

    /** XChart puts no more ticks than this between two positions. */
    private static final int TICKS = 20;

    /** The first of the Unicode characters that are only space. */
    private static final char FIRST_SPACE = '\u2000';

    private static final int SPACES = 11;

    /** Not dashed: each dash would be a shape of its own in the file. */
    private static final BasicStroke GRID = new BasicStroke(0.5f);

    private static final BasicStroke RANGE = new BasicStroke(1);
    private static final BasicStroke MEDIAN = new BasicStroke(1.6f);

    /** Whether there is something to draw. */
    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** Returns the chart. */
    XYChart chart() {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(positionTitle)
                .yAxisTitle(valueTitle)
                .theme(ChartTheme.XChart)
                .build();
        style(chart);
        for (int i = 0; i < lines.size(); i++) {
            double step = Math.min(STEP, SPREAD / lines.size());
            add(chart, lines.get(i), step * (i - (lines.size() - 1) / 2.0));
        }
        return chart;
    }

    private void style(XYChart chart) {
        XYStyler styler = chart.getStyler();
        styler.setChartBackgroundColor(Color.WHITE)
                .setLegendPosition(LegendPosition.OutsideE)
                .setLegendBorderColor(Color.WHITE)
                .setMarkerSize(7);
        styler.setPlotGridLinesStroke(GRID)
                .setPlotGridVerticalLinesVisible(false)
                .setXAxisMin(-MARGIN)
                .setXAxisMax(positions.size() - 1 + MARGIN)
                .setXAxisTickMarkSpacingHint(WIDTH / (positions.size() + 2));
        chart.setCustomXAxisTickLabelsFormatter(this::position);
        if (logarithmic) {
            double from = rounded(least(), false);
            double to = rounded(greatest(), true);
            if (!hasNumbers(from, to)) {
                from = Math.pow(10, Math.floor(Math.log10(from)));
                to = Math.max(from * 10, Math.pow(10, Math.ceil(Math.log10(to))));
            }
            styler.setYAxisLogarithmic(true).setYAxisMin(from).setYAxisMax(to).setYAxisDecimalPattern("#,##0.###");
        } else {
            styler.setYAxisMin(0.0);
            chart.setCustomYAxisTickLabelsFormatter(Text::axis);
        }
    }

    private String position(double at) {
        int nearest = (int) Math.rint(at);
        return Math.abs(nearest - at) < 1e-6 && nearest >= 0 && nearest < positions.size()
                ? positions.get(nearest)
                : blank((int) Math.rint(at * TICKS));
    }

    /** A label that is not seen. They all differ, as XChart takes no labels of which two are equal. */
    private static String blank(int tick) {
        StringBuilder label = new StringBuilder();
        for (int rest = tick + TICKS, i = 0; i < 3; i++, rest /= SPACES) {
            label.append((char) (FIRST_SPACE + rest % SPACES));
        }
        return label.toString();
    }

    /** The end of an axis above {@code value}, or below it if {@code up} is false: 1, 2 or 5 times a power of ten. */
    private static double rounded(double value, boolean up) {
        double power = Math.pow(10, Math.floor(Math.log10(value)));
        double part = value / power;
        if (up) {
            return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
        }
        return power * (part >= 5 ? 5 : part >= 2 ? 2 : 1);
    }

    /** Whether an axis between these has at least two numbers: there are numbers at powers of ten only. */
    private static boolean hasNumbers(double from, double to) {
        return Math.floor(Math.log10(to) + 1e-9) - Math.ceil(Math.log10(from) - 1e-9) >= 1;
    }

    private double least() {
        return lines.stream()
                .flatMap(line -> line.points().stream())
                .mapToDouble(point -> point.value().lower())
                .min()
                .orElse(1);
    }

    private double greatest() {
        return lines.stream()
                .flatMap(line -> line.points().stream())
                .mapToDouble(point -> point.value().upper())
                .max()
                .orElse(10);
    }

    private static void add(XYChart chart, Line line, double shift) {
        PeerStyle style = PeerStyle.of(line.peer());
        List<Double> x = new ArrayList<>();
        List<Double> medians = new ArrayList<>();
        List<Double> rangeX = new ArrayList<>();
        List<Double> ranges = new ArrayList<>();
        for (Point point : line.points()) {
            double at = point.position() + shift;
            x.add(at);
            medians.add(point.value().median());
            // A line from the least to the greatest value, and then a gap.
            rangeX.addAll(List.of(at, at, at));
            ranges.addAll(List.of(point.value().lower(), point.value().upper(), Double.NaN));
        }
        XYSeries range = chart.addSeries(line.peer().name() + ", range", rangeX, ranges);
        range.setMarker(PeerStyle.RANGE_END)
                .setMarkerColor(style.color())
                .setLineColor(style.color())
                .setLineStyle(RANGE)
                .setShowInLegend(false);
        XYSeries median = chart.addSeries(line.peer().name(), x, medians);
        median.setMarker(style.marker())
                .setMarkerColor(style.color())
                .setLineColor(style.color())
                .setLineStyle(MEDIAN);
    }
}
