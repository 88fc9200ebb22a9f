package dev.zmtp.metrics;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.settle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.codec.ZMTPConnectionLimiter;
import dev.zmtp.codec.ZMTPHandshakeLimiter;
import dev.zmtp.codec.ZMTPMemoryBudget;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPRequestObserver;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPStats;
import dev.zmtp.testing.CapturedLog;
import dev.zmtp.testing.TestSockets;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Meters of sockets and of what belongs to them. */
class ZMTPMetricsTest {

    private static final String ENDPOINT = "inproc://metered";

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

    /** Returns the first value of the meter with these tags, which the next scrape has. */
    private double value(String name, String... tags) {
        clock.add(1, TimeUnit.SECONDS);
        return registry.get(name).tags(tags).meter().measure().iterator().next().getValue();
    }

    /** Returns how often the timer has recorded this result. */
    private long count(String timer, String result) {
        Timer found = registry.find(timer).tags("result", result).timer();
        return found == null ? 0 : found.count();
    }

    private List<String> names() {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .map(Meter.Id::getName)
                .toList();
    }

    @Tag("T76")
    @Test
    void aScrapeOfPrometheusHasTheCountsOfTheSocket(TestSockets sockets) {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPSocket dealer = sockets.open(DEALER);
        TestSockets.bind(dealer, ENDPOINT);
        ZMTPPeer peer = TestSockets.connect(router, ENDPOINT);
        ZMTPMetrics.of(router, "orders").bindTo(prometheus);
        for (int i = 0; i < 3; i++) {
            get(peer.sendAsync(message("order")));
        }
        router.sendOrDrop(message("nobody", "order"));
        settle(router);

        assertThat(prometheus.scrape())
                .contains("zmtp_messages_written_messages_total{socket=\"orders\",type=\"ROUTER\"} 3.0\n")
                .contains("zmtp_messages_dropped_messages_total{socket=\"orders\",type=\"ROUTER\"} 1.0\n")
                .contains("zmtp_bytes_written_bytes_total{socket=\"orders\",type=\"ROUTER\"} 0.0\n")
                .contains("zmtp_handshakes_total{result=\"success\",socket=\"orders\",type=\"ROUTER\"} 1.0\n")
                .contains("zmtp_peers{socket=\"orders\",type=\"ROUTER\"} 1.0\n");
        prometheus.close();
    }

    @Tag("T77")
    @Test
    void theQueueHasTheMessagesThatAPeerHasNotRead(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("inproc://not-bound-yet");
        ZMTPMetrics.of(push, "jobs").bindTo(registry);
        for (int i = 0; i < 5; i++) {
            push.sendOrDrop(message("12345678"));
        }
        settle(push);

        assertThat(value("zmtp.queue.messages", "socket", "jobs", "type", "PUSH"))
                .isEqualTo(5);
        assertThat(value("zmtp.queue.bytes", "socket", "jobs")).isEqualTo(40);
    }

    @Tag("T78")
    @Test
    void aRequestThatTimesOutIsTimedAsOneThatDid(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        ZMTPMetrics.of(dealer, "asking").bindTo(registry);

        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), Duration.ofMillis(20));
        TestSockets.failure(answer);
        await("the request is timed", () -> names().contains("zmtp.requests"));

        assertThat(registry.get("zmtp.requests")
                        .tags("result", "timeout")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("zmtp.requests")
                        .tags("result", "timeout")
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isGreaterThanOrEqualTo(20);
        assertThat(value("zmtp.requests.active")).isZero();
    }

    @Test
    void requestsThatAreMadeAndServedAreTimedByTheirResults(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        router.serve(request -> {
            if (request.message().frameUTF8(0).equals("drop")) {
                request.drop();
            } else {
                request.reply(request.message());
            }
        });
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        ZMTPMetrics.of(dealer, "asking").bindTo(registry);
        ZMTPMetrics.of(router, "serving").bindTo(registry);

        get(dealer.requestAsync(message("echo"), Duration.ofMinutes(1))).release();
        CompletableFuture<ZMTPMessage> waiting = dealer.requestAsync(message("drop"), Duration.ofMinutes(1));
        await(
                "the second request is served",
                () -> registry.find("zmtp.served")
                                .tags("socket", "serving", "result", "dropped")
                                .timer()
                        != null);
        assertThat(value("zmtp.requests.active")).isEqualTo(1);
        waiting.cancel(false);

        await(
                "the first request is timed",
                () -> registry.find("zmtp.requests").tags("result", "ok").timer() != null);
        assertThat(registry.get("zmtp.requests").tags("result", "ok").timer().count())
                .isEqualTo(1);
        assertThat(registry.get("zmtp.requests")
                        .tags("result", "cancelled")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("zmtp.served").tags("result", "replied").timer().count())
                .isEqualTo(1);
        assertThat(value("zmtp.requests.active")).isZero();
    }

    @Test
    void aReplyToAPeerThatHasLeftCountsAsRequesterDown(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        CompletableFuture<ZMTPRequest> served = new CompletableFuture<>();
        router.serve(served::complete);
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        ZMTPMetrics.of(router, "serving").bindTo(registry);
        dealer.requestAsync(message("?"), Duration.ofMinutes(1));
        ZMTPRequest request = get(served);
        get(dealer.closeAsync(Duration.ZERO));
        await("the peer has left", () -> router.peers().isEmpty());

        request.reply(request.message());

        assertThat(registry.get("zmtp.served")
                        .tags("result", "requester_down")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    @Tag("T79")
    @Test
    void aClosedSocketHasNoMeters(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPMetrics.of(dealer, "asking").bindTo(registry);
        dealer.connect("tcp://127.0.0.1:1");
        TestSockets.failure(dealer.requestAsync(message("?"), Duration.ofMillis(1)));
        await("the request is timed", () -> names().contains("zmtp.requests"));
        assertThat(names()).contains("zmtp.peers", "zmtp.endpoint.up");

        get(dealer.closeAsync(Duration.ZERO));

        await("its meters are removed", () -> names().isEmpty());
    }

    @Test
    void metersThatAreClosedAreRemovedFromAllRegistries(TestSockets sockets) {
        SimpleMeterRegistry other = new SimpleMeterRegistry();
        ZMTPMetrics metrics = ZMTPMetrics.of(sockets.open(PAIR), "pair");
        metrics.bindTo(registry);
        metrics.bindTo(other);

        metrics.close();
        metrics.close();

        assertThat(names()).isEmpty();
        assertThat(other.getMeters()).isEmpty();
        assertThatIllegalStateException().isThrownBy(() -> metrics.bindTo(registry));
    }

    @Tag("T80")
    @Test
    void twoSocketsWithTheSameNameAreRefused(TestSockets sockets) {
        ZMTPMetrics.of(sockets.open(PAIR), "one").bindTo(registry);

        assertThatIllegalStateException()
                .isThrownBy(() -> ZMTPMetrics.of(sockets.open(PULL), "one").bindTo(registry))
                .withMessage("socket: \"one\" (expected: a name that is not in the registry)");
        assertThat(registry.get("zmtp.peers").tags("socket", "one").meters()).hasSize(1);
    }

    @Test
    void aNameHasToSaySomething(TestSockets sockets) {
        ZMTPSocket socket = sockets.open(PAIR);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZMTPMetrics.of(socket, " "))
                .withMessage("name: \" \" (expected: a text that is not blank)");
    }

    @Test
    void metersHaveTheAdditionalTags(TestSockets sockets) {
        ZMTPMetrics.of(sockets.open(PAIR), "pair").tags(Tags.of("region", "eu")).bindTo(registry);

        assertThat(registry.getMeters())
                .isNotEmpty()
                .allMatch(meter -> "eu".equals(meter.getId().getTag("region")));
    }

    @Tag("T81")
    @Test
    void aScrapeReadsTheCountsOnce(TestSockets sockets) {
        AtomicInteger reads = new AtomicInteger();
        ZMTPStats stats = sockets.open(PUSH).stats();
        SocketSnapshot snapshot = new SocketSnapshot(
                () -> {
                    reads.incrementAndGet();
                    return stats;
                },
                () -> 3,
                clock::monotonicTime);

        assertThat(snapshot.stats()).isSameAs(stats);
        assertThat(snapshot.peers()).isEqualTo(3);
        clock.add(999, TimeUnit.MILLISECONDS);
        snapshot.stats();
        assertThat(reads).hasValue(1);

        clock.add(1, TimeUnit.MILLISECONDS);
        snapshot.stats();
        assertThat(reads).hasValue(2);
    }

    @Tag("T86")
    @Test
    void anEndpointIsUpWhileItsServerIsThere(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPMetrics.of(dealer, "asking").bindTo(registry);
        ZMTPEndpoint connected = dealer.connect(ENDPOINT);
        ZMTPSocket router = sockets.open(ROUTER);
        TestSockets.bind(router, ENDPOINT);
        await("it is up", () -> names().contains("zmtp.endpoint.up") && value("zmtp.endpoint.up") == 1);

        get(router.closeAsync(Duration.ZERO));
        await("it is down", () -> value("zmtp.endpoint.up", "endpoint", ENDPOINT) == 0);
        TestSockets.bind(sockets.open(ROUTER), ENDPOINT);
        await("it is up again", () -> value("zmtp.endpoint.up") == 1);

        TestSockets.disconnect(connected);
        await("its gauge is removed", () -> !names().contains("zmtp.endpoint.up"));
    }

    @Test
    void anEndpointThatWasUpBeforeIsUp(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        TestSockets.bind(sockets.open(ROUTER), ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);

        ZMTPMetrics.of(dealer, "asking").bindTo(registry);

        assertThat(value("zmtp.endpoint.up", "endpoint", ENDPOINT)).isEqualTo(1);
    }

    @Test
    void anEndpointWithASuccessorStaysUp(TestSockets sockets) {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).linger(Duration.ofMinutes(1)));
        ZMTPMetrics.of(push, "jobs").bindTo(registry);
        ZMTPEndpoint lingering = push.connect(ENDPOINT);
        push.sendOrDrop(message("for later")); // so it does not end at once
        lingering.close();
        ZMTPSocket pull = sockets.open(PULL);
        push.connect(ENDPOINT);
        TestSockets.bind(pull, ENDPOINT);

        await("the first has ended", () -> lingering.state() == ZMTPEndpoint.State.STOPPED);
        settle(push);

        // The gauge can be away until the second endpoint is up, or tries again.
        await("the second is up", () -> {
            Gauge up =
                    registry.find("zmtp.endpoint.up").tag("endpoint", ENDPOINT).gauge();
            return up != null && up.value() == 1;
        });
    }

    @Test
    void metersOfASocketDoNotSilenceTheLog(TestSockets sockets) {
        try (CapturedLog log = new CapturedLog("dev.zmtp.socket.Drops")) {
            ZMTPSocket router = sockets.open(ROUTER);
            ZMTPMetrics.of(router, "router").bindTo(registry);

            router.sendOrDrop(message("nobody", "order"));
            settle(router);

            assertThat(log.lines).singleElement().asString().contains("dropped 1 message");
        }
    }

    @Test
    void aBindThatFailsLeavesNothing(TestSockets sockets) {
        ZMTPSocket socket = sockets.open(PAIR);
        AtomicBoolean fails = new AtomicBoolean(true);
        registry.config().onMeterAdded(meter -> {
            if (fails.get() && meter.getId().getName().equals("zmtp.requests.active")) {
                throw new IllegalStateException("of the test");
            }
        });

        assertThatIllegalStateException()
                .isThrownBy(() -> ZMTPMetrics.of(socket, "pair").bindTo(registry))
                .withMessage("of the test");
        assertThat(names()).isEmpty();
        fails.set(false);
        ZMTPMetrics.of(socket, "pair").bindTo(registry);

        assertThat(names()).contains("zmtp.peers");
    }

    @Test
    void aRequestOfClosedMetersDoesNotTakeTheTimerOfTheirSuccessors(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        ZMTPMetrics first = ZMTPMetrics.of(dealer, "asking");
        first.bindTo(registry);
        CompletableFuture<ZMTPMessage> outstanding = dealer.requestAsync(message("1"), Duration.ofMinutes(1));
        first.close();
        ZMTPMetrics.of(dealer, "asking").bindTo(registry);
        dealer.requestAsync(message("2"), Duration.ofMinutes(1)).cancel(false);
        await("the second is timed", () -> count("zmtp.requests", "cancelled") == 1);

        outstanding.cancel(false);

        assertThat(count("zmtp.requests", "cancelled")).isEqualTo(1);
    }

    @Test
    void theTimeOfARequestIsWithoutWhatFollowsIt(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        CompletableFuture<ZMTPRequest> served = new CompletableFuture<>();
        router.serve(served::complete);
        TestSockets.bind(router, ENDPOINT);
        TestSockets.connect(dealer, ENDPOINT);
        List<String> order = new CopyOnWriteArrayList<>();
        AtomicReference<Duration> time = new AtomicReference<>();
        dealer.observeRequests(new ZMTPRequestObserver() {
            @Override
            public void requestStarted() {
                order.add("started");
                throw new IllegalStateException("of the test");
            }

            @Override
            public void requestEnded(Duration duration, @Nullable Throwable failure) {
                order.add("ended");
                time.set(duration);
            }
        });

        long start = System.nanoTime();
        CompletableFuture<ZMTPMessage> answer = dealer.requestAsync(message("?"), Duration.ofMinutes(1));
        AtomicLong followed = new AtomicLong();
        answer.thenAccept(message -> {
            message.release();
            followed.set(System.nanoTime());
            while (System.nanoTime() - followed.get() < TimeUnit.MILLISECONDS.toNanos(50)) {
                // on an event loop, which must not sleep
            }
        });
        ZMTPRequest request = get(served);
        request.reply(request.message());
        await("the request has ended", () -> time.get() != null);

        assertThat(order).containsExactly("started", "ended");
        assertThat(time.get()).isLessThanOrEqualTo(Duration.ofNanos(followed.get() - start));
    }

    @Test
    void budgetsLimitersAndProxiesHaveMeters(TestSockets sockets) {
        ZMTPMemoryBudget budget = ZMTPMemoryBudget.of(1_000_000);
        ZMTPProxy proxy = ZMTPProxy.start(sockets.open(ROUTER), sockets.open(DEALER));
        ZMTPMetrics.of(budget, "memory").bindTo(registry);
        ZMTPMetrics.of(new ZMTPConnectionLimiter(10, 10, 10), "all").bindTo(registry);
        ZMTPMetrics.of(new ZMTPHandshakeLimiter(), "all").bindTo(registry);
        ZMTPMetrics.of(proxy, "broker").bindTo(registry);

        assertThat(value("zmtp.memory.limit", "budget", "memory")).isEqualTo(1_000_000);
        assertThat(value("zmtp.memory.used")).isZero();
        assertThat(value("zmtp.memory.ended")).isZero();
        assertThat(value("zmtp.limiter.connections", "limiter", "all")).isZero();
        assertThat(value("zmtp.limiter.handshakes", "limiter", "all")).isZero();
        assertThat(value("zmtp.proxy.messages", "side", "frontend", "direction", "received"))
                .isZero();

        proxy.close();
        get(proxy.closeFuture());
        await(
                "the meters of the proxy are removed",
                () -> registry.find("zmtp.proxy.messages").meters().isEmpty());
    }
}
