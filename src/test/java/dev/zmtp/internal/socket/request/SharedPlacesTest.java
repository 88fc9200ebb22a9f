package dev.zmtp.internal.socket.request;

import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many askers of one service whose handler answers later. */
@Tag("netty-4.2-only")
class SharedPlacesTest {

    private static final String ENDPOINT = "inproc://places";
    private static final int PLACES = 300;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPSocket router =
            loop.open(ZMTPSocketConfig.builder(ZMTPSocketType.ROUTER).maxOutstandingRequests(PLACES));

    /** The requests that the handler has, in order. */
    private final Deque<ZMTPRequest> served = new ArrayDeque<>();

    private ZMTPRegistration serving;

    SharedPlacesTest() {
        router.bind(ENDPOINT);
        serving = router.serve(this::serve);
        loop.run();
    }

    @AfterEach
    void close() {
        serving.close();
        served.forEach(ZMTPRequest::drop);
        loop.close();
    }

    /** Answers what is honest at once, and the rest later. */
    private void serve(ZMTPRequest request) {
        if (text(request).startsWith("honest")) {
            request.reply(message("answer"));
        } else {
            served.add(request);
        }
    }

    private static String text(ZMTPRequest request) {
        return request.message().frameUTF8(0);
    }

    private ZMTPSocket asker() {
        ZMTPSocket asker =
                loop.open(ZMTPSocketConfig.builder(ZMTPSocketType.DEALER).sendQueueLimit(10_000, 1 << 30));
        asker.connect(ENDPOINT);
        loop.run();
        return asker;
    }

    private ZMTPSocket flooder(String name, int requests) {
        ZMTPSocket flooder = asker();
        for (int i = 0; i < requests; i++) {
            flooder.sendOrDrop(message("", name + i));
        }
        loop.run();
        return flooder;
    }

    private CompletableFuture<ZMTPMessage> ask(ZMTPSocket asker) {
        CompletableFuture<ZMTPMessage> answer = asker.requestAsync(message("honest"), Duration.ofSeconds(10));
        loop.run();
        return answer;
    }

    private void assertIsAnswered(CompletableFuture<ZMTPMessage> answer) {
        assertThat(answer).isCompleted();
        assertThat(frames(answer.join())).containsExactly("answer");
    }

    @Test
    void anHonestAskerBesideAFlooderIsAnsweredAtOnce() {
        flooder("flood", 5_000);

        assertThat(served).as("half of what is left, and so a third of all").hasSize(PLACES / 3);
        for (int i = 0; i < 3; i++) {
            assertIsAnswered(ask(asker()));
        }
    }

    @Test
    void aHundredAskersBesideAFlooderHaveTheirRequestsServedAtOnce() {
        flooder("flood", 5_000);
        List<ZMTPSocket> askers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            askers.add(flooder("other", 1));
        }

        assertThat(served.stream().filter(request -> text(request).startsWith("other")))
                .hasSize(100);
        assertThat(askers).allSatisfy(asker -> assertIsAnswered(ask(asker)));
    }

    /** It keeps the places that it has, and gets one of the next. */
    @Test
    void aFlooderThatComesAndGoesDelaysNobodyByWhatItHasLeftBehind() {
        for (int i = 0; i < 50; i++) {
            flooder("flood", 200).closeAsync(Duration.ofSeconds(1));
            loop.run();
        }
        assertThat(router.peers()).isEmpty();
        assertThat(served).hasSize(PLACES);
        List<CompletableFuture<ZMTPMessage>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            answers.add(ask(asker()));
        }

        served.remove().drop();
        served.remove().drop();
        loop.run();

        assertThat(answers).allSatisfy(this::assertIsAnswered);
    }

    /** And nobody asks. */
    @Test
    void whatAPeerHasLeftBehindIsServed() {
        flooder("job", 1_000).closeAsync(Duration.ofSeconds(1));
        loop.run();

        int jobs = 0;
        for (ZMTPRequest next = served.poll(); next != null; next = served.poll()) {
            jobs++;
            next.drop();
            loop.run();
        }

        assertThat(jobs).isEqualTo(1_000);
    }

    @Test
    void floodersShareThePlacesEvenly() {
        flooder("a", 1_000);
        flooder("b", 1_000);
        for (int i = 0; i < 2_000; i++) { // what one had before the other came is answered
            served.remove().reply(message("later"));
            loop.run();
            if (served.stream().filter(request -> text(request).startsWith("b")).count() == PLACES / 4) {
                break;
            }
        }

        assertThat(served).hasSize(PLACES / 2);
        assertIsAnswered(ask(asker()));
    }

    @Test
    void eachRequestOfAFlooderIsServedOnceAndInOrder() {
        flooder("flood", 1_500);
        flooder("other", 200);

        List<String> texts = new ArrayList<>();
        while (!served.isEmpty()) {
            ZMTPRequest next = served.remove();
            texts.add(text(next));
            next.reply(message("later"));
            loop.run();
        }

        assertThat(texts.stream().filter(text -> text.startsWith("flood")))
                .containsExactlyElementsOf(numbered("flood", 1_500));
        assertThat(texts.stream().filter(text -> text.startsWith("other")))
                .containsExactlyElementsOf(numbered("other", 200));
    }

    private static List<String> numbered(String name, int count) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(name + i);
        }
        return texts;
    }

    /** As with a handler that answers many requests together. */
    @Test
    void aPeerThatHadToWaitGetsThePlacesOfOthersWithoutAnAnswerOfItsOwn() {
        flooder("a", 100);
        flooder("b", 60);
        flooder("late", 60);
        long before = countOf("late");
        assertThat(before).isLessThan(60);

        List.copyOf(served).stream()
                .filter(request -> !text(request).startsWith("late"))
                .forEach(request -> {
                    served.remove(request);
                    request.drop();
                    loop.run();
                });

        assertThat(countOf("late")).isEqualTo(60);
    }

    private long countOf(String name) {
        return served.stream().filter(request -> text(request).startsWith(name)).count();
    }

    @Test
    void whatWaitsForAPlaceIsReceivedOtherwiseAfterTheHandlerHasEnded() {
        flooder("flood", PLACES);
        serving.close();

        CompletableFuture<ZMTPMessage> next = router.receiveAsync();
        loop.run();

        assertThat(next).isCompleted();
        assertThat(frames(next.join())).endsWith("", "flood" + PLACES / 3);
    }

    @Test
    void requestsOfTheHandlerBeforeKeepTheirPlaces() {
        flooder("flood", 5_000);
        serving.close();
        serving = router.serve(this::serve);
        loop.run();

        assertThat(served).hasSize(PLACES / 3);
        assertIsAnswered(ask(asker()));
        served.remove().reply(message("later"));
        loop.run();
        assertThat(served).hasSize(PLACES / 3);
    }

    @Test
    void aFlooderIsNotReadFurtherThanItsReceiveLimit() {
        ZMTPSocket flooder = flooder("flood", 5_000);

        long received = ClockedSockets.core(router)
                .peers()
                .all()
                .iterator()
                .next()
                .stats()
                .received();
        assertThat(received).isBetween(1_000L + PLACES / 3, 1_200L + PLACES / 3);
        assertThat(flooder.stats().dropped()).isZero();
    }
}
