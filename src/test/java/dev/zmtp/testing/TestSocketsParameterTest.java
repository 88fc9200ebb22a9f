package dev.zmtp.testing;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.hold;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.zmtp.socket.ZMTPSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** What a test that has sockets as a parameter may rely on. */
class TestSocketsParameterTest {

    /** Those that the tests of one of the classes below were given. */
    private static final List<TestSockets> GIVEN = new ArrayList<>();

    @BeforeEach
    void forget() {
        GIVEN.clear();
    }

    @Test
    void eachRepetitionHasItsOwn() {
        assertThat(failuresOf(Repeated.class, 2)).isEmpty();

        assertThat(GIVEN).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void theyStandAfterTheArgumentsOfAParameterizedTest() {
        assertThat(failuresOf(Parameterized.class, 2)).isEmpty();

        assertThat(GIVEN).hasSize(2).doesNotHaveDuplicates();
    }

    /** The leak check runs after that. */
    @Test
    void theyAreClosedBeforeTheMethodsAfterEachTest() {
        assertThat(failuresOf(WithMessage.class, 1)).isEmpty();

        assertThat(GIVEN).hasSize(1);
    }

    @Test
    void theyAreClosedAfterATestThatFails() {
        assertThat(failuresOf(Failing.class, 1)).containsExactly("of the test");

        assertThat(GIVEN).hasSize(1).allMatch(TestSocketsParameterTest::isClosed);
    }

    @Test
    void aTestFailsIfTheyCannotBeClosed() {
        assertThat(failuresOf(NotClosing.class, 1)).singleElement().asString().startsWith("future: ");
    }

    @Test
    void aMethodBeforeEachTestHasNone() {
        assertThat(failuresOf(InAMethodBefore.class, 1))
                .singleElement()
                .asString()
                .contains("No ParameterResolver");
    }

    /** Runs the tests of the class as the build does, and returns the messages of their failures. */
    private static List<String> failuresOf(Class<?> tests, int count) {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(tests))
                                .build(),
                        listener);
        TestExecutionSummary summary = listener.getSummary();
        assertThat(summary.getTestsStartedCount()).isEqualTo(count);
        return summary.getFailures().stream()
                .map(failure -> failure.getException().getMessage())
                .toList();
    }

    private static boolean isClosed(TestSockets sockets) {
        return sockets.group().isTerminated();
    }

    // Their names do not end in Test: some of them fail, and only this class is to run them.

    static class Repeated {
        @RepeatedTest(2)
        void itHasSockets(TestSockets sockets) {
            assertThat(GIVEN).allMatch(TestSocketsParameterTest::isClosed);
            GIVEN.add(sockets);
        }
    }

    static class Parameterized {
        @ParameterizedTest
        @CsvSource({"0, none", "1, one"})
        void itHasSockets(int number, String word, TestSockets sockets) {
            assertThat(word).isEqualTo(List.of("none", "one").get(number));
            assertThat(GIVEN).hasSize(number).allMatch(TestSocketsParameterTest::isClosed);
            GIVEN.add(sockets);
        }
    }

    static class WithMessage {
        @Test
        void itHasSockets(TestSockets sockets) {
            GIVEN.add(sockets);
            ZMTPSocket push = sockets.open(PUSH);
            TestSockets.connect(push, TestSockets.bind(sockets.open(PULL), "tcp://127.0.0.1:*"));
            TestSockets.get(push.sendAsync(message("which nobody receives")));
        }

        @AfterEach
        void areClosed() {
            assertThat(GIVEN).allMatch(TestSocketsParameterTest::isClosed);
        }
    }

    static class Failing {
        @Test
        void itHasSockets(TestSockets sockets) {
            GIVEN.add(sockets);
            throw new AssertionError("of the test");
        }
    }

    static class NotClosing {
        @Test
        void itHasSockets(TestSockets sockets) {
            CountDownLatch held = hold(sockets.open(PULL));
            Thread opener = new Thread(() -> {
                await("the end of the loops", sockets.group()::isShuttingDown);
                held.countDown();
            });
            opener.start();
            Thread.currentThread().interrupt(); // so that closing waits for the socket in vain
        }
    }

    static class InAMethodBefore {
        @BeforeEach
        void before(TestSockets sockets) {
            GIVEN.add(sockets);
        }

        @Test
        void itHasSockets() {}
    }
}
