package dev.zmtp.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class ConsistentDequeTest {

    @Test
    void theElementsAreInTheirOrder() {
        Deque<Integer> deque = new ConsistentDeque<>();
        for (int i = 0; i < 100; i++) {
            deque.add(i);
            deque.addFirst(-i - 1);
        }
        for (int i = -100; i < 100; i++) {
            assertThat(deque.poll()).isEqualTo(i);
        }
        assertThat(deque.poll()).isNull();
    }

    /** In a JVM of its own, whose heap is full. */
    @Test
    void aDequeThatCannotGrowIsAsBefore() throws IOException, InterruptedException {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx8m",
                        "-Xlog:disable",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FullHeap.class.getName())
                .redirectErrorStream(true)
                .start();

        String printed = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(jvm.waitFor()).as(printed).isZero();
        assertThat(printed).contains("last: as before", "first: as before");
    }

    /** Adds elements until there is no memory, at the end and at the beginning. */
    static final class FullHeap {

        private FullHeap() {}

        public static void main(String[] args) {
            String last = asBefore(Deque::addLast);
            String first = asBefore(Deque::addFirst);
            PrintStream out = System.out;
            out.println("last: " + last);
            out.println("first: " + first);
        }

        private interface Adding {
            void add(Deque<Object> deque, Object element);
        }

        private static String asBefore(Adding adding) {
            Deque<Object> deque = new ConsistentDeque<>();
            Object element = new Object();
            int added = 0;
            try {
                while (true) {
                    adding.add(deque, element);
                    added++;
                }
            } catch (OutOfMemoryError e) {
                int size = deque.size();
                int polled = 0;
                while (deque.poll() != null) {
                    polled++;
                }
                deque.add(element);
                return size == added && polled == added && deque.size() == 1
                        ? "as before"
                        : added + " added, size " + size + ", " + polled + " polled";
            }
        }
    }
}
