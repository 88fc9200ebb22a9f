package dev.zmtp.examples;

import static dev.zmtp.ZMTPSocketType.CLIENT;
import static dev.zmtp.ZMTPSocketType.PAIR;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.RADIO;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPFlow;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.socket.ZMTPSocketException;
import dev.zmtp.testing.Blocking;
import dev.zmtp.testing.Certificates;
import io.netty.handler.ssl.SslContextBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Each example of {@code docs/sockets.md}, and those of the README with sockets, run within this JVM. */
@Timeout(60)
class SocketExamplesTest {

    private static final String ANY_PORT = "tcp://127.0.0.1:*";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Deque<ZMTPSocket> sockets = new ArrayDeque<>();

    @AfterEach
    void closeAllSockets() throws Exception {
        for (ZMTPSocket socket : sockets) {
            get(socket.closeAsync(Duration.ZERO));
        }
    }

    private ZMTPSocket open(ZMTPSocketType type) {
        return closing(ZMTPSocket.of(type));
    }

    private ZMTPSocket closing(ZMTPSocket socket) {
        sockets.push(socket);
        return socket;
    }

    private static String bind(ZMTPSocket socket, String endpoint) throws Exception {
        return get(socket.bind(endpoint).readyFuture()).text();
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static String next(BlockingQueue<String> texts) throws InterruptedException {
        return texts.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void theFirstProgramGetsItsAnswer() throws InterruptedException {
        FirstSockets.main(); // ends once it has its answer, and fails without one
    }

    @Test
    void theFirstServerGreetsAReq() throws Exception {
        String endpoint = bind(closing(FirstServer.open()), ANY_PORT);
        ZMTPSocket client = open(REQ);
        client.connect(endpoint);

        assertThat(AskAndAnswer.ask(client, "Ada")).isEqualTo("Hello, Ada");
    }

    @Test
    void eachTaskGoesToOneWorker() throws Exception {
        List<String> tasks =
                IntStream.range(0, 5_000).mapToObj(i -> "task " + i).toList(); // more than two queues hold
        BlockingQueue<String> done = new LinkedBlockingQueue<>();
        ZMTPSocket source = open(PUSH);
        String endpoint = bind(source, ANY_PORT);
        closing(WorkQueue.worker(endpoint, done::add));
        closing(WorkQueue.worker(endpoint, done::add));

        WorkQueue.dealOut(source, tasks);

        List<String> seen = new ArrayList<>();
        while (seen.size() < tasks.size()) {
            seen.add(next(done));
        }
        assertThat(seen).containsExactlyInAnyOrderElementsOf(tasks);
    }

    @Test
    void eachJobIsInTheAccount() throws Exception {
        ZMTPSocket push = open(PUSH);
        ZMTPSocket pull = open(PULL);
        pull.onMessage((from, job) -> job.release());
        pull.connect(bind(push, ANY_PORT));

        assertThat(AccountedJobs.push(push, 1_000)).isEmpty();

        assertThat(push.stats().written()).isEqualTo(1_000);
    }

    @Test
    void aSubscriberGetsTheQuotesOfItsTopic() throws Exception {
        BlockingQueue<String> topics = new LinkedBlockingQueue<>();
        BlockingQueue<String> quotes = new LinkedBlockingQueue<>();
        ZMTPSocket publisher = closing(Quotes.publisher(topic -> topics.add(topic.toString()), Runnable::run, s -> {}));
        String endpoint = bind(publisher, ANY_PORT);
        ZMTPSocket subscriber = closing(Quotes.subscriber(endpoint, "acme.", quotes::add));
        get(publisher.whenPeers(1));

        publisher.sendOrDrop(ZMTPMessage.fromUTF8("other.close", "200"));
        publisher.sendOrDrop(ZMTPMessage.fromUTF8("acme.close", "100"));

        assertThat(next(quotes)).isEqualTo("acme.close=100");
        assertThat(next(topics)).isEqualTo(ZMTPSubscription.subscribe("acme.").toString());
        subscriber.close();
        assertThat(next(topics)).isEqualTo(ZMTPSubscription.cancel("acme.").toString());
    }

    @Test
    void aSubscriberThatDoesNotReadIsReportedBeforeItMissesAnything() throws Exception {
        CompletableFuture<ZMTPSocketEvent.SlowPeer> slow = new CompletableFuture<>();
        ZMTPSocket publisher = closing(Quotes.publisher(topic -> {}, Runnable::run, slow::complete));
        ZMTPSocket subscriber = open(ZMTPSocketType.SUB); // with no receiver, it reads until its own queue is full
        subscriber.subscribe("");
        subscriber.connect(bind(publisher, ANY_PORT));
        get(publisher.whenPeers(1));

        String large = "x".repeat(100_000);
        while (!slow.isDone()) {
            get(publisher.sendAsync(ZMTPMessage.fromUTF8("acme.report", large)));
        }

        assertThat(get(slow).dropped()).isZero();
        assertThat(get(slow).bytes()).isGreaterThanOrEqualTo(4 << 20);
    }

    @Test
    void aRequestAndItsAnswerTakeTurns() throws Exception {
        ZMTPSocket server = open(REP);
        ZMTPSocket client = open(REQ);
        client.connect(bind(server, ANY_PORT));
        Thread answering = new Thread(() -> AskAndAnswer.answer(server, 2));
        answering.start();

        assertThat(AskAndAnswer.ask(client, "Ada")).isEqualTo("Hello, Ada");
        assertThat(AskAndAnswer.ask(client, "Grace")).isEqualTo("Hello, Grace");

        Blocking.allow(answering::join);
    }

    @Test
    void aClientAsksAgainWhenItsServerIsBack() throws Exception {
        BlockingQueue<String> asked = new LinkedBlockingQueue<>();
        ZMTPSocket first = open(ROUTER);
        first.onMessage((peer, request) -> {
            asked.add(request.frame(2).toString(UTF_8)); // after the id and an empty frame
            request.release(); // and no answer
        });
        String endpoint = bind(first, ANY_PORT);
        try (AskingClient client = new AskingClient(endpoint, PATIENCE)) {
            CompletableFuture<String> answer = client.ask("how are you?");
            assertThat(next(asked)).isEqualTo("how are you?");

            get(first.closeAsync(Duration.ZERO));
            ZMTPSocket second = closing(RoutingServer.open(Runnable::run, question -> "fine"));
            bind(second, endpoint);

            assertThat(get(answer)).isEqualTo("fine");
        }
    }

    @Test
    void aServerAnswersInAnyOrder() throws Exception {
        BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        ZMTPSocket server = closing(RoutingServer.open(work::add, question -> question + "!"));
        try (AskingClient client = new AskingClient(bind(server, ANY_PORT), PATIENCE)) {
            client.ask("a").thenAccept(answers::add);
            client.ask("b").thenAccept(answers::add);
            Runnable first = work.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            Runnable second = work.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);

            second.run();
            assertThat(next(answers)).isEqualTo("b!");
            first.run();
            assertThat(next(answers)).isEqualTo("a!");
        }
    }

    @Test
    void aTaskGoesToTheWorkerWithItsName() throws Exception {
        ZMTPSocket router = open(ROUTER);
        String endpoint = bind(router, ANY_PORT);
        closing(NamedWorkers.worker(endpoint, "red", task -> "painted the " + task));
        assertThat(NamedWorkers.next(router)).isEqualTo("red: hello");

        get(NamedWorkers.send(router, "red", "door"));

        assertThat(NamedWorkers.next(router)).isEqualTo("red: painted the door");
        assertThat(NamedWorkers.send(router, "green", "door"))
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(ZMTPSocketException.class)
                .withMessageContaining("UNROUTABLE");
    }

    @Test
    void twoThreadsTalkWithinOneProcess() throws Exception {
        ZMTPSocket left = open(PAIR);
        ZMTPSocket right = open(PAIR);
        left.connect("inproc://two-threads");
        bind(right, "inproc://two-threads");
        Thread echoing = new Thread(() -> TwoThreads.echo(right));
        echoing.start();

        assertThat(TwoThreads.ask(left, "hello")).isEqualTo("hello");

        right.close();
        Blocking.allow(echoing::join);
    }

    @Test
    void aServerAnswersItsClientByRoutingId() throws Exception {
        ZMTPSocket server = closing(SingleFrames.echoServer());
        ZMTPSocket client = open(CLIENT);
        client.connect(bind(server, ANY_PORT));

        assertThat(TwoThreads.ask(client, "hello")).isEqualTo("hello");
    }

    @Test
    void aDishHearsTheGroupThatItHasJoined() throws Exception {
        BlockingQueue<String> news = new LinkedBlockingQueue<>();
        ZMTPSocket radio = open(RADIO);
        closing(SingleFrames.dish(bind(radio, ANY_PORT), "news", news::add));
        get(radio.whenPeers(1));

        radio.sendOrDrop(ZMTPMessage.fromUTF8("newspapers", "not for us"));
        radio.sendOrDrop(ZMTPMessage.fromUTF8("news", "for us"));

        assertThat(next(news)).isEqualTo("for us");
    }

    @Test
    void oneServerIsReachedOverEachTransport(@TempDir Path directory) throws Exception {
        ZMTPSocket server = closing(SameHost.server());
        for (String endpoint : SameHost.endpoints(directory)) {
            assertThat(get(SameHost.ask(bind(server, endpoint)))).isEqualTo("hello");
        }
    }

    @Test
    void socketsTalkThroughTls(@TempDir Path directory) throws Exception {
        Certificates certificate = Certificates.make(directory, "server"); // for the host "localhost"
        ZMTPSocket server = closing(SocketsOverTls.server(
                SslContextBuilder.forServer(certificate.keys()).build()));
        ZMTPSocket client = closing(SocketsOverTls.client(OverTls.clientContext(certificate.certificate())));
        String endpoint = bind(server, ANY_PORT);
        client.connect(endpoint.replace("127.0.0.1", "localhost"));

        assertThat(TwoThreads.ask(client, "hello")).isEqualTo("hello");
    }

    @Test
    void messagesAreReceivedInThreeWays() throws Exception {
        ZMTPSocket pull = open(PULL);
        ZMTPSocket push = open(PUSH);
        push.connect(bind(pull, "inproc://three-views"));
        for (String text : List.of("blocking", "future", "handler")) {
            push.sendOrDrop(ZMTPMessage.fromUTF8(text));
        }

        assertThat(ThreeViews.blocking(pull)).isEqualTo("blocking");
        assertThat(get(ThreeViews.future(pull))).isEqualTo("future");
        BlockingQueue<String> handled = new LinkedBlockingQueue<>();
        ThreeViews.handler(pull, handled::add);
        assertThat(next(handled)).isEqualTo("handler");
    }

    @Test
    void aRelayPassesMessagesFromSocketToSocket() throws Exception {
        ZMTPSocket in = open(PULL);
        ZMTPSocket out = open(PUSH);
        ZMTPSocket source = open(PUSH);
        ZMTPSocket sink = open(PULL);
        source.connect(bind(in, "inproc://relay-in"));
        out.connect(bind(sink, "inproc://relay-out"));
        BlockingQueue<String> texts = new LinkedBlockingQueue<>();

        FlowRelay.relay(in, out);
        ZMTPFlow.messages(sink).subscribe(new FlowRelay.OneByOne(texts::add));
        source.sendOrDrop(ZMTPMessage.fromUTF8("hello"));
        source.sendOrDrop(ZMTPMessage.fromUTF8("world"));

        assertThat(next(texts)).isEqualTo("hello");
        assertThat(next(texts)).isEqualTo("world");
    }

    @Test
    void aConnectorIsGivenUpAfterSoManyFailures() throws Exception {
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        ZMTPSocket push = closing(ZMTPSocket.of(PUSH));
        push.onEvent(Runnable::run, event -> SocketWatch.report(event, log::add));

        SocketWatch.giveUpAfter(2, push, push.connect("inproc://nobody"), log::add);

        assertThat(next(log)).startsWith("attempt 1 failed: ").contains("inproc://nobody");
        assertThat(next(log)).startsWith("attempt 2 failed: ");
        assertThat(next(log)).isEqualTo("gave up: inproc://nobody");
    }

    @Test
    void anEndpointIsNotGivenUpForTheFailuresOfAnother() throws Exception {
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        ZMTPSocket push = open(PUSH);
        ZMTPEndpoint good = push.connect(bind(open(PULL), ANY_PORT));
        SocketWatch.giveUpAfter(1, push, good, log::add);
        ZMTPEndpoint bad = push.connect("inproc://nobody");
        SocketWatch.giveUpAfter(2, push, bad, log::add);

        assertThat(next(log)).isEqualTo("gave up: inproc://nobody");
        assertThat(good.state()).isNotEqualTo(ZMTPEndpoint.State.STOPPED);
    }
}
