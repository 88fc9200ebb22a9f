package dev.zmtp.compare.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class MarksTest {

    @Test
    void onlyIdleReportsTheMemoryThatIsResidentNow() throws Exception {
        Map<String, Long> idle = figures(marks("receive", "workload=idle"));
        Map<String, Long> oneway = figures(marks("receive", "workload=oneway", "size=1"));

        assertThat(idle).containsKeys("rss", "resident", "heap", "direct");
        assertThat(idle.get("resident")).isPositive();
        assertThat(oneway).containsKey("rss").doesNotContainKeys("resident", "heap", "direct");
    }

    @Test
    void theCollectionForOneMarkIsNotCountedInTheNext() throws Exception {
        Marks marks = marks("receive", "workload=idle");
        marks.mark();
        long between = System.nanoTime();
        Map<String, Long> second = figures(marks);

        // Its clock was read after that moment, less the time that the first mark took: at least a collection.
        assertThat(second.get("nanos")).isLessThan(between);
    }

    private static Marks marks(String... args) throws UsageException {
        return new Marks(Arguments.parse(List.of(args)), new Counter(), new Counter());
    }

    private static Map<String, Long> figures(Marks marks) throws Exception {
        Map<String, Long> figures = new TreeMap<>();
        for (String item : marks.mark().substring("mark ".length()).split(" ", -1)) {
            int equals = item.indexOf('=');
            figures.put(item.substring(0, equals), Long.parseLong(item.substring(equals + 1)));
        }
        return figures;
    }
}
