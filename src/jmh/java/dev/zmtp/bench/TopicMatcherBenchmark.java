package dev.zmtp.bench;

import dev.zmtp.ZMTPTopicMatcher;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Finding the subscribers of a message: does it cost more if they have more topics? */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsPrepend = BenchmarkThreads.NO_LEAK_DETECTION)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class TopicMatcherBenchmark {

    /** How many topics one subscriber has. */
    @Param({"1", "100", "10000"})
    int topics;

    private final ZMTPTopicMatcher<Object> matcher = new ZMTPTopicMatcher<>();
    private final ByteBuf wanted = topic(0);
    private final ByteBuf unwanted = topic("weather.bergen");
    private long found;

    private static ByteBuf topic(int number) {
        return topic(String.format("market.eu.%05d.price", number));
    }

    private static ByteBuf topic(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** Subscribes. */
    @Setup
    public void subscribe() {
        for (int i = 0; i < topics; i++) {
            matcher.add(topic(i), this);
        }
    }

    private void count(Object subscriber) {
        found++;
    }

    /** A message that the subscriber wants. */
    @Benchmark
    public long wanted() {
        matcher.match(wanted, this::count);
        return found;
    }

    /** A message that nobody wants. */
    @Benchmark
    public long unwanted() {
        matcher.match(unwanted, this::count);
        return found;
    }
}
