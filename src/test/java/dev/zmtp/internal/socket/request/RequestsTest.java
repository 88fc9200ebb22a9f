package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.EXPIRED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.MALFORMED;
import static dev.zmtp.socket.ZMTPSocketException.Reason.PEER_DOWN;
import static dev.zmtp.socket.ZMTPSocketException.Reason.TIMEOUT;
import static dev.zmtp.socket.ZMTPSocketException.Reason.UNROUTABLE;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.failure;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static dev.zmtp.testing.TestSockets.receive;
import static dev.zmtp.testing.WriteGate.big;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.WriteGate;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests and their answers, each of which finds its own. */
class RequestsTest {

    private static final String ENDPOINT = "inproc://requests";

    private final WriteGate gate = new WriteGate();

    private static String text(ZMTPMessage message) {
        return String.join(",", frames(message));
    }

    /** Answers with what was asked. */
    private static void echo(ZMTPSocket server) {
        server.serve(request -> request.reply(request.message()));
    }

    /** T16. */
    @Tag("T16")
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"REP", "ROUTER"})
    void eachOfAThousandRequestsGetsItsOwnAnswerInWhateverOrderTheyCome(ZMTPSocketType type, TestSockets sockets) {
        int requests = 1_000;
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket server = sockets.open(type);
        List<Runnable> answers = Collections.synchronizedList(new ArrayList<>());
        server.serve(TestSockets.answering(request -> {
            CompletableFuture<ZMTPMessage> answer = new CompletableFuture<>();
            ZMTPMessage asked = request.message().retain();
            answers.add(() -> answer.complete(asked));
            return answer;
        }));
        connect(dealer, bind(server, "tcp://127.0.0.1:*"));

        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            asked.add(dealer.requestAsync(message("question", "", "" + i), PATIENCE));
        }
        await("all requests", () -> answers.size() == requests);
        Collections.shuffle(answers, new Random(1));
        answers.forEach(Runnable::run);

        for (int i = 0; i < requests; i++) {
            assertThat(frames(get(asked.get(i)))).containsExactly("question", "", "" + i);
        }
    }

    /** What begins as an id may be the envelope of somebody who asks by this socket, as in a proxy. */
    @Test
    void nothingIsALateAnswerToWhatWasNeverAsked(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, ENDPOINT));
        ZMTPPeer peer = TestSockets.peer(router);

        for (int first = 0; first < 256; first++) {
            get(peer.sendAsync(ZMTPMessage.from(
                    Unpooled.wrappedBuffer(new byte[] {(byte) first, 1, 2, 3}),
                    Unpooled.EMPTY_BUFFER,
                    Unpooled.copyInt(first))));
        }

        for (int first = 0; first < 256; first++) {
            ZMTPMessage received = get(dealer.receiveAsync());
            assertThat(received.frame(2).getInt(0)).isEqualTo(first);
            received.release();
        }
    }

    /** And not because its connection ends, which comes after the socket's. */
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"DEALER", "REQ"})
    void aRequestThatWaitsForItsAnswerFailsAtTheClose(ZMTPSocketType type, TestSockets sockets) {
        ZMTPSocket client = sockets.open(type);
        ZMTPPeer peer = connect(client, bind(sockets.open(ROUTER), ENDPOINT));
        CompletableFuture<ZMTPMessage> answer = client.requestAsync(message("question"), PATIENCE);
        await("written", () -> peer.stats().written() == 1);

        get(client.closeAsync(PATIENCE));

        assertThat(reason(answer)).isEqualTo(CLOSED);
    }

    /** T17. */
    @Tag("T17")
    @Test
    void allRequestsToAPeerFailWhenItsConnectionEnds(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPPeer peer = connect(dealer, bind(router, ENDPOINT));
        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            asked.add(dealer.requestAsync(message("m" + i), PATIENCE));
        }
        await("all written", () -> peer.stats().written() == 1_000);
        List<Long> failedBefore = new ArrayList<>();
        dealer.onEvent(Runnable::run, event -> {
            if (event instanceof ZMTPSocketEvent.PeerDown) {
                failedBefore.add(asked.stream()
                        .filter(CompletableFuture::isCompletedExceptionally)
                        .count());
            }
        });

        get(router.closeAsync(Duration.ZERO));

        asked.forEach(request -> assertThat(reason(request)).isEqualTo(PEER_DOWN));
        await("the event", () -> !failedBefore.isEmpty());
        assertThat(failedBefore).containsExactly(1_000L);
    }

    /** T18: the late answer is counted, and is nobody else's. */
    @Tag("T18")
    @Test
    void anAnswerThatComesAfterTheTimeoutIsCountedAndNotDelivered(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPPeer peer = connect(dealer, bind(router, ENDPOINT));

        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("first"), Duration.ofMillis(20));
        ZMTPMessage question = get(router.receiveAsync());
        assertThat(reason(first)).isEqualTo(TIMEOUT);
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("second"), PATIENCE);
        get(router.sendAsync(question)); // the late one

        await("the late answer", () -> peer.stats().lateReplies() == 1);
        assertThat(second).isNotDone();
        get(router.sendAsync(get(router.receiveAsync())));
        assertThat(text(get(second))).isEqualTo("second");
    }

    /** T19. */
    @Tag("T19")
    @Test
    void theAnswerToACancelledRequestDoesNothing(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(1));
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPPeer peer = connect(dealer, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> cancelled = dealer.requestAsync(message("cancelled"), PATIENCE);
        ZMTPMessage question = get(router.receiveAsync());

        cancelled.cancel(false);
        get(router.sendAsync(question));

        await("the answer", () -> peer.stats().lateReplies() == 1);
        assertThat(cancelled).isCancelled();
        assertNothingIsOutstanding(dealer, router);
    }

    /** However a request ends, its place is free for the next one. */
    @ParameterizedTest
    @ValueSource(strings = {"cancel", "complete", "fail", "orTimeout", "completeOnTimeout", "completeAsync"})
    void noEntryRemainsOfARequestThatTheApplicationEnds(String how, TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(1));
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, ENDPOINT));

        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message("x"), timeoutOf(how));
        get(router.receiveAsync()).release();
        end(asked, how);

        assertNothingIsOutstanding(dealer, router);
    }

    /** What waits in line has a message, which is released. */
    @ParameterizedTest
    @ValueSource(strings = {"cancel", "complete", "fail", "orTimeout", "completeOnTimeout", "completeAsync"})
    void noEntryRemainsOfARequestInLineThatTheApplicationEnds(String how, TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(1));
        dealer.connect(ENDPOINT);

        ZMTPMessage message = trackedMessage();
        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message, timeoutOf(how));
        end(asked, how);

        await("released", () -> message.refCnt() == 0);
        ZMTPSocket router = sockets.open(ROUTER);
        bind(router, ENDPOINT);
        assertNothingIsOutstanding(dealer, router);
    }

    /** Whose buffer the leak check knows. */
    private static ZMTPMessage trackedMessage() {
        return ZMTPMessage.from(ByteBufAllocator.DEFAULT.directBuffer().writeByte('x'));
    }

    private static void end(CompletableFuture<ZMTPMessage> asked, String how) {
        ZMTPMessage other = ZMTPMessage.from(Unpooled.EMPTY_BUFFER);
        switch (how) {
            case "cancel" -> asked.cancel(true);
            case "complete" -> asked.complete(other);
            case "fail" -> asked.completeExceptionally(new IllegalStateException("by the application"));
            case "orTimeout" -> asked.orTimeout(1, TimeUnit.MILLISECONDS);
            case "completeOnTimeout" -> asked.completeOnTimeout(other, 1, TimeUnit.MILLISECONDS);
            default -> asked.completeAsync(() -> other);
        }
        await("its end", asked::isDone);
        if (how.equals("orTimeout")) {
            assertThat(failure(asked)).isInstanceOf(TimeoutException.class);
        }
    }

    /** A request learns of all its ends at once but of one, which it finds out with its timeout. */
    private static Duration timeoutOf(String how) {
        return how.equals("completeAsync") ? Duration.ofMillis(200) : PATIENCE;
    }

    /** With one request at a time. */
    private static void assertNothingIsOutstanding(ZMTPSocket dealer, ZMTPSocket router) {
        await("a free place", () -> {
            CompletableFuture<ZMTPMessage> next = dealer.requestAsync(message("next"), PATIENCE);
            if (next.isCompletedExceptionally()) {
                assertThat(reason(next)).isEqualTo(FULL);
                return false;
            }
            get(router.sendAsync(get(router.receiveAsync())));
            return text(get(next)).equals("next");
        });
    }

    @Test
    void oneMoreRequestThanMayBeOutstandingFailsAtOnce(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxOutstandingRequests(2));
        dealer.connect(ENDPOINT);
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("1"), PATIENCE);
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("2"), PATIENCE);

        for (int i = 0; i < 100; i++) {
            ZMTPMessage refused = message("3");
            CompletableFuture<ZMTPMessage> third = dealer.requestAsync(refused, PATIENCE);
            assertThat(third).isCompletedExceptionally();
            assertThat(reason(third)).isEqualTo(FULL);
        }

        ZMTPSocket rep = sockets.open(REP);
        echo(rep);
        bind(rep, ENDPOINT);
        assertThat(text(get(first))).isEqualTo("1");
        assertThat(text(get(second))).isEqualTo("2");
        assertThat(text(get(dealer.requestAsync(message("4"), PATIENCE)))).isEqualTo("4");
    }

    @Test
    void requestsWaitForTheFirstPeer(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        req.connect(ENDPOINT);
        CompletableFuture<ZMTPMessage> early = req.requestAsync(message("early"), PATIENCE);
        ZMTPSocket rep = sockets.open(REP);
        echo(rep);

        bind(rep, ENDPOINT);

        assertThat(text(get(early))).isEqualTo("early");
    }

    @Test
    void requestsThatWaitLeaveInOrder(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(
                sockets.builder(DEALER).sendQueueLimit(10, 16 << 20).pipelineInitializer(gate));
        ZMTPSocket rep = sockets.open(REP);
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        rep.serve(request -> {
            order.add(WriteGate.text(request.message().retain()));
            request.reply(message("done"));
        });
        connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
        gate.close();

        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            asked.add(dealer.requestAsync(big("m" + i), PATIENCE));
            expected.add("m" + i);
        }
        gate.open();

        asked.forEach(request -> assertThat(text(get(request))).isEqualTo("done"));
        assertThat(order).isEqualTo(expected);
    }

    /** What is still in the queue is asked when the peer is back; what was written fails. */
    @Test
    void aRequestThatIsStillQueuedIsAskedAfterTheReconnect(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).pipelineInitializer(gate));
        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(message("done")));
        ZMTPPeer peer = connect(dealer, bind(rep, "tcp://127.0.0.1:*"));
        gate.close();
        CompletableFuture<ZMTPMessage> written = dealer.requestAsync(big("written"), PATIENCE);
        CompletableFuture<ZMTPMessage> queued = dealer.requestAsync(big("queued"), PATIENCE);
        await("in the queue", () -> dealer.stats().queued() == 1);

        peer.close();

        assertThat(reason(written)).isEqualTo(PEER_DOWN);
        gate.open();
        assertThat(text(get(queued))).isEqualTo("done");
    }

    @Test
    void aRequestThatIsQueuedFailsWithItsConnector(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).linger(Duration.ZERO));
        ZMTPEndpoint connector = dealer.connect("inproc://nobody");
        CompletableFuture<ZMTPMessage> queued = dealer.requestAsync(message("x"), PATIENCE);
        await("in the queue", () -> dealer.stats().queued() == 1);

        get(TestSockets.disconnect(connector));

        assertThat(reason(queued)).isEqualTo(PEER_DOWN);
    }

    @Test
    void aRequestThatIsDroppedFromTheQueueFailsAtOnce(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).maxMessageAge(Duration.ofMillis(1)));
        dealer.connect(ENDPOINT);
        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message("x"), PATIENCE);

        assertThat(reason(asked)).isEqualTo(EXPIRED);
    }

    @Test
    void anAnswerOfAnotherPeerIsNotTaken(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket first = sockets.open(ROUTER);
        ZMTPSocket second = sockets.open(ROUTER);
        String endpoint = bind(dealer, ENDPOINT);
        connect(first, endpoint);
        connect(second, endpoint);
        await("both", () -> dealer.peers().stream().filter(TestSockets::isUp).count() == 2);
        CompletableFuture<ZMTPMessage> one = dealer.requestAsync(message("one"), PATIENCE);
        CompletableFuture<ZMTPMessage> two = dealer.requestAsync(message("two"), PATIENCE);
        ZMTPMessage toFirst = get(first.receiveAsync());
        ZMTPMessage toSecond = get(second.receiveAsync());

        ZMTPMessage stolen = toFirst.pop();
        get(TestSockets.peer(second).sendAsync(stolen));
        await(
                "refused",
                () -> dealer.peers().stream().anyMatch(peer -> peer.stats().malformed() == 1));
        assertThat(one).isNotDone();
        assertThat(two).isNotDone();
        get(first.sendAsync(toFirst));
        get(second.sendAsync(toSecond));

        assertThat(List.of(text(get(one)), text(get(two)))).containsExactlyInAnyOrder("one", "two");
    }

    /** T15: with our ROUTER; against others, see the interop tests. */
    @Tag("T15")
    @Test
    void aRequestWhosePeerAnswersWithoutADelimiterFailsAndTheNextOneWorks(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(req, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> first = req.requestAsync(message("first"), PATIENCE);
        get(router.receiveAsync()).release();
        ZMTPPeer asker = TestSockets.peer(router);

        get(asker.sendAsync(message("no", "delimiter")));

        assertThat(reason(first)).isEqualTo(MALFORMED);
        CompletableFuture<ZMTPMessage> second = req.requestAsync(message("second"), PATIENCE);
        get(router.sendAsync(get(router.receiveAsync())));
        assertThat(text(get(second))).isEqualTo("second");
    }

    /** A DEALER may get anything. */
    @Test
    void whatIsNotAnAnswerGoesToTheApplicationOfADealer(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, ENDPOINT));
        await("the dealer", () -> router.peers().stream().anyMatch(TestSockets::isUp));
        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message("question"), PATIENCE);
        ZMTPPeer asker = TestSockets.peer(router);

        get(asker.sendAsync(message("by the way")));
        get(asker.sendAsync(message("12345678", "", "of another program")));
        get(router.sendAsync(get(router.receiveAsync())));

        assertThat(receive(dealer)).containsExactly("by the way");
        assertThat(receive(dealer)).containsExactly("12345678", "", "of another program");
        assertThat(text(get(asked))).isEqualTo("question");
    }

    /** What is on the wire. */
    @Test
    void aRequestHasAnIdAndADelimiterBeforeItsData(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(dealer, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> asked = dealer.requestAsync(message("a", "", "b"), PATIENCE);

        ZMTPMessage question = get(router.receiveAsync());

        assertThat(question.size()).isEqualTo(6);
        assertThat(question.frame(0).readableBytes()).as("the name").isEqualTo(9);
        assertThat(question.frame(1).readableBytes()).as("the id").isEqualTo(4);
        get(router.sendAsync(question));
        assertThat(frames(get(asked))).containsExactly("a", "", "b");
    }

    @Test
    void allRequestsFailWhenTheSocketIsClosed(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPSocket router = sockets.open(ROUTER);
        ZMTPPeer peer = connect(dealer, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> written = dealer.requestAsync(message("written"), PATIENCE);
        await("written", () -> peer.stats().written() == 1);
        get(router.closeAsync(Duration.ZERO));
        assertThat(reason(written)).isEqualTo(PEER_DOWN);
        CompletableFuture<ZMTPMessage> queued = dealer.requestAsync(message("queued"), PATIENCE);
        ZMTPSocket lonely = sockets.open(DEALER);
        lonely.connect("inproc://nobody");
        CompletableFuture<ZMTPMessage> inLine = lonely.requestAsync(message("in line"), PATIENCE);

        get(dealer.closeAsync(Duration.ZERO));
        get(lonely.closeAsync(Duration.ZERO));

        assertThat(reason(queued)).isEqualTo(CLOSED);
        assertThat(reason(inLine)).isEqualTo(CLOSED);
        assertThat(reason(dealer.requestAsync(message("after"), PATIENCE))).isEqualTo(CLOSED);
    }

    /** Answers, cancels and timeouts at the same time: each request ends once, and nothing leaks or remains. */
    @Test
    void requestsThatAreCancelledWhileTheirAnswersComeLeaveNothing(TestSockets sockets) {
        int requests = 5_000;
        ZMTPSocket dealer = sockets.open(
                sockets.builder(DEALER).maxOutstandingRequests(requests).sendQueueLimit(requests, 1 << 20));
        ZMTPSocket rep =
                sockets.open(sockets.builder(REP).sendQueueLimit(requests, 1 << 20)); // it drops what is beyond
        echo(rep);
        connect(dealer, bind(rep, ENDPOINT));
        Random random = new Random(2);
        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();

        for (int i = 0; i < requests; i++) {
            CompletableFuture<ZMTPMessage> request = dealer.requestAsync(message("" + i), PATIENCE);
            asked.add(request);
            if (random.nextInt(3) == 0) {
                asked.get(random.nextInt(asked.size())).cancel(false);
            }
        }

        for (int i = 0; i < requests; i++) {
            CompletableFuture<ZMTPMessage> request = asked.get(i);
            await("its end", request::isDone);
            if (!request.isCancelled()) {
                assertThat(text(get(request))).isEqualTo("" + i);
            }
        }
        List<CompletableFuture<ZMTPMessage>> more = new ArrayList<>();
        await("all places free", () -> {
            more.clear();
            for (int i = 0; i < requests; i++) {
                more.add(dealer.requestAsync(message("more"), PATIENCE));
            }
            return more.stream().filter(RequestsTest::isAnswered).count() == requests;
        });
    }

    private static boolean isAnswered(CompletableFuture<ZMTPMessage> request) {
        await("its end", request::isDone);
        if (request.isCompletedExceptionally()) {
            assertThat(reason(request)).isEqualTo(FULL);
            return false;
        }
        return get(request).release();
    }

    @Test
    void aTimeoutSaysThatThePeerIsDownAndWhy(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        ZMTPEndpoint connector = dealer.connect("inproc://nobody-binds-this");
        await("refused", () -> connector.state() == ZMTPEndpoint.State.RETRYING);

        Throwable failure = failure(dealer.requestAsync(message("q"), Duration.ofMillis(1)));

        assertThat(failure)
                .hasMessage("TIMEOUT: no answer within PT0.001S: inproc://nobody-binds-this is down")
                .hasCauseInstanceOf(IOException.class);
    }

    @Test
    void aRequestSaysThatThereIsNoPeer(TestSockets sockets) {
        assertThat(failure(sockets.open(DEALER).requestAsync(message("q"), PATIENCE)))
                .hasMessage("NO_PEER: there is no peer");
    }

    // A REQ whose requests have no ids

    @Test
    void aReqAsksEachOfItsPeersOneAtATime(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket one = sockets.open(ROUTER);
        ZMTPSocket other = sockets.open(ROUTER);
        connect(req, bind(one, "inproc://one"));
        connect(req, bind(other, "inproc://other"));

        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            asked.add(req.requestAsync(message("" + i), PATIENCE));
        }
        ZMTPMessage first = get(one.receiveAsync());
        ZMTPMessage second = get(other.receiveAsync());
        assertThat(req.stats().queued()).isEqualTo(2);

        get(one.sendAsync(first));
        ZMTPMessage third = get(one.receiveAsync());
        get(other.sendAsync(second));
        get(other.sendAsync(get(other.receiveAsync())));
        get(one.sendAsync(third));
        for (int i = 0; i < 4; i++) {
            assertThat(text(get(asked.get(i)))).isEqualTo("" + i);
        }
    }

    /** Otherwise the late answer would be taken for that of the next request. */
    @Test
    void aTimeoutOfARequestWithoutAnIdClosesItsConnectionAndTheNextOneIsAnswered(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(req, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> late = req.requestAsync(message("slow"), Duration.ofMillis(50));
        ZMTPMessage asked = get(router.receiveAsync());
        TestSockets.Events events = TestSockets.events(req);
        TestSockets.Events ofRouter = TestSockets.events(router);

        assertThat(reason(late)).isEqualTo(TIMEOUT);

        ofRouter.next(ZMTPSocketEvent.PeerDown.class);
        assertThat(events.next(ZMTPSocketEvent.PeerDown.class).cause()).hasMessageContaining("no answer within");
        assertThat(reason(router.sendAsync(asked))).isEqualTo(UNROUTABLE);
        CompletableFuture<ZMTPMessage> next = req.requestAsync(message("next"), PATIENCE);
        get(router.sendAsync(get(router.receiveAsync())));
        assertThat(text(get(next))).isEqualTo("next");
    }

    @Test
    void aCancelledRequestWithoutAnIdHoldsItsPeerUntilTheAnswerWhichNobodyGets(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket router = sockets.open(ROUTER);
        connect(req, bind(router, ENDPOINT));
        CompletableFuture<ZMTPMessage> cancelled = req.requestAsync(message("cancelled"), PATIENCE);
        ZMTPMessage asked = get(router.receiveAsync());
        cancelled.cancel(false);
        CompletableFuture<ZMTPMessage> next = req.requestAsync(message("next"), PATIENCE);
        await("it waits", () -> req.stats().queued() == 1);

        get(router.sendAsync(asked));

        get(router.sendAsync(get(router.receiveAsync())));
        assertThat(text(get(next))).isEqualTo("next");
        assertThat(req.stats().lateReplies()).isEqualTo(1);
    }
}
