package dev.zmtp.compare.peer;

import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.SingleWriterRecorder;

/** Times that one thread measures and another takes away. Nanoseconds, with three significant digits. */
final class LatencyRecorder {

    private static final long HIGHEST = TimeUnit.MINUTES.toNanos(10);

    private final SingleWriterRecorder recorder = new SingleWriterRecorder(1, HIGHEST, 3);

    /** Notes one time. Of one thread. */
    void record(long nanos) {
        recorder.recordValue(Math.min(Math.max(nanos, 0), HIGHEST));
    }

    /** What was noted since the last call, as {@code nanos:count,...}. Of one other thread. */
    String take() {
        Histogram interval = recorder.getIntervalHistogram();
        StringJoiner out = new StringJoiner(",");
        for (HistogramIterationValue value : interval.recordedValues()) {
            out.add(value.getValueIteratedTo() + ":" + value.getCountAtValueIteratedTo());
        }
        return out.toString();
    }
}
