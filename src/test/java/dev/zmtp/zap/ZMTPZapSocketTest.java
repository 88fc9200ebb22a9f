package dev.zmtp.zap;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.frames;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.security.ZMTPAuthDecision;
import dev.zmtp.security.ZMTPAuthRequest;
import dev.zmtp.security.ZMTPPlain;
import dev.zmtp.socket.ZMTPEndpoint;
import dev.zmtp.socket.ZMTPRequest;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A ZAP handler that is a socket of this process. */
@Tag("netty-4.2-only")
class ZMTPZapSocketTest {

    private static final String ENDPOINT = "inproc://zeromq.zap.01";
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int MAX_PENDING = 10_000;

    private static final ZMTPAuthDecision LATE =
            ZMTPAuthDecision.temporaryFailure("the ZAP handler did not reply in time");
    private static final ZMTPAuthDecision CLOSED = ZMTPAuthDecision.temporaryFailure("the ZAP socket is closed");

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final ZMTPZapSocket zap = ZMTPZapSocket.connect(loop.open(ZMTPZapSocket.config()), ENDPOINT, TIMEOUT);

    @AfterEach
    void close() {
        zap.close();
        loop.close();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static ZMTPAuthRequest user(String name) {
        return new ZMTPAuthRequest(
                "services",
                new InetSocketAddress("192.0.2.7", 5555),
                bytes("me"),
                ZMTPPlain.NAME,
                List.of(bytes(name), bytes("secret")),
                List.of(),
                null);
    }

    private CompletableFuture<ZMTPAuthDecision> ask(String name) {
        CompletableFuture<ZMTPAuthDecision> answer =
                zap.authenticate(user(name)).toCompletableFuture();
        loop.run();
        return answer;
    }

    private ZMTPSocket handler(ZMTPSocketType type) {
        ZMTPSocket handler = loop.open(ZMTPSocketConfig.builder(type));
        handler.bind(ENDPOINT);
        loop.run();
        return handler;
    }

    private static ZMTPMessage next(ZMTPSocket handler) {
        return Objects.requireNonNull(handler.tryReceive(), "no request");
    }

    private void reply(ZMTPSocket rep, String id, String status, String text) {
        rep.sendOrDrop(message("1.0", id, status, text, "the user", ""));
        loop.run();
    }

    @Test
    void aRepGetsARequestOfZap() {
        ZMTPSocket rep = handler(REP);
        ask("admin");

        assertThat(frames(next(rep)))
                .containsExactly("1.0", "1", "services", "192.0.2.7", "me", "PLAIN", "admin", "secret");
    }

    @Test
    void aRouterGetsARequestOfZapAfterTheDelimiter() {
        ZMTPSocket router = handler(ROUTER);
        ask("admin");

        assertThat(frames(next(router)).subList(1, 10))
                .containsExactly("", "1.0", "1", "services", "192.0.2.7", "me", "PLAIN", "admin", "secret");
    }

    @Test
    void aRepAcceptsAPeer() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        reply(rep, "1", "200", "OK");

        assertThat(get(answer).status()).isEqualTo(ZMTPAuthDecision.Status.ACCEPTED);
        assertThat(get(answer).userId()).isEqualTo("the user");
    }

    @Test
    void aRepRefusesAPeerWithAText() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        reply(rep, "1", "400", "no such user");

        assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.deny("no such user"));
    }

    @Test
    void aRouterRepliesInAnyOrder() {
        ZMTPSocket router = handler(ROUTER);
        CompletableFuture<ZMTPAuthDecision> first = ask("first");
        CompletableFuture<ZMTPAuthDecision> second = ask("second");
        for (String id : List.of("2", "1")) {
            ZMTPMessage request = next(router);
            ZMTPMessage reply = message("", "1.0", id, "400", "no. " + id, "", "");
            router.sendOrDrop(reply.push(request.frame(0).copy()));
            reply.release();
            request.release();
            loop.run();
        }

        assertThat(first).isCompletedWithValue(ZMTPAuthDecision.deny("no. 1"));
        assertThat(second).isCompletedWithValue(ZMTPAuthDecision.deny("no. 2"));
    }

    @Test
    void aReplyToNoRequestIsDropped() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        reply(rep, "7", "200", "OK");

        assertThat(answer).isNotDone();
    }

    @Test
    void aMalformedReplyIsATemporaryFailure() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        reply(rep, "1", "201", "OK");

        assertThat(answer)
                .isCompletedWithValue(ZMTPAuthDecision.temporaryFailure(
                        "malformed ZAP reply: status: 201 (expected: 200, 300, 400 or 500)"));
    }

    @Test
    void withoutAHandlerTheDecisionIsATemporaryFailureInTime() {
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        loop.advance(TIMEOUT.minusMillis(1));
        assertThat(answer).isNotDone();

        loop.advance(Duration.ofMillis(1));

        assertThat(answer).isCompletedWithValue(LATE);
    }

    @Test
    void aHandlerThatDoesNotReplyIsATemporaryFailureInTime() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        loop.advance(TIMEOUT);

        assertThat(answer).isCompletedWithValue(LATE);
    }

    @Test
    void aHandlerThatComesLaterGetsTheRequestsThatStillWait() {
        List<CompletableFuture<ZMTPAuthDecision>> answers = List.of(ask("early"));
        loop.advance(TIMEOUT.minusMillis(1));
        CompletableFuture<ZMTPAuthDecision> late = ask("late");
        loop.advance(Duration.ofMillis(1));
        assertThat(answers.get(0)).isCompletedWithValue(LATE);

        ZMTPSocket rep = handler(REP);
        loop.advance(Duration.ofSeconds(1));

        assertThat(frames(next(rep)).subList(6, 8)).containsExactly("late", "secret");
        reply(rep, "2", "400", "no");
        assertThat(late).isCompletedWithValue(ZMTPAuthDecision.deny("no"));
        assertThat(rep.tryReceive()).isNull();
    }

    @Test
    void allRequestsOfABusyTimeAreSent() {
        List<CompletableFuture<ZMTPAuthDecision>> answers = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            answers.add(zap.authenticate(user("user")).toCompletableFuture());
        }
        ZMTPSocket rep = loop.open(ZMTPSocketConfig.builder(REP));
        rep.serve(request -> {
            String id = request.message().frameUTF8(1);
            request.reply(message("1.0", id, "400", "no", "", ""));
        });
        rep.bind(ENDPOINT);
        loop.advance(Duration.ofSeconds(1));

        assertThat(answers).allSatisfy(answer -> assertThat(answer).isCompletedWithValue(ZMTPAuthDecision.deny("no")));
    }

    /** Its passwords would otherwise pile up. */
    @Test
    void aHandlerThatReadsNothingGetsNoMoreRequests() {
        ZMTPSocket router = loop.open(ZMTPSocketConfig.builder(ROUTER).receiveQueueLimit(1, 1));
        router.bind(ENDPOINT);
        loop.run();
        List<CompletableFuture<ZMTPAuthDecision>> answers = new ArrayList<>();
        for (int i = 0; i < MAX_PENDING; i++) {
            answers.add(zap.authenticate(user("user")).toCompletableFuture());
        }
        loop.run();
        loop.advance(TIMEOUT);
        assertThat(answers).allMatch(CompletableFuture::isDone);

        int taken = 0;
        for (ZMTPMessage next = router.tryReceive(); next != null; next = router.tryReceive()) {
            next.release();
            taken++;
            loop.run();
        }

        // 1,024 on the way to the handler, one in its queue, and 64 KiB in the channel
        assertThat(taken).isBetween(1_025, 1_200);
    }

    @Test
    void aHandlerThatLeavesIsATemporaryFailureAtOnce() {
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> answer = ask("admin");
        next(rep).release();

        rep.closeAsync(Duration.ZERO);
        loop.run();

        assertThat(answer)
                .isCompletedWithValue(ZMTPAuthDecision.temporaryFailure("the connection to the ZAP handler has ended"));
    }

    @Test
    void theNextHandlerGetsTheNextRequests() {
        handler(REP).closeAsync(Duration.ZERO);
        loop.run();
        ZMTPSocket next = handler(ROUTER);
        loop.advance(Duration.ofSeconds(1));

        ask("admin");

        assertThat(frames(next(next))).hasSize(10);
    }

    @Test
    void tooManyPendingRequestsAreATemporaryFailure() {
        List<CompletableFuture<ZMTPAuthDecision>> waiting = new ArrayList<>();
        for (int i = 0; i < MAX_PENDING; i++) {
            waiting.add(zap.authenticate(user("user")).toCompletableFuture());
        }

        assertThat(ask("admin")).isCompletedWithValue(ZMTPAuthDecision.temporaryFailure("10000 requests are pending"));
        assertThat(waiting).noneMatch(CompletableFuture::isDone);
        loop.advance(TIMEOUT);
        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(ask("admin")).isNotDone();
    }

    @Test
    void aCloseIsATemporaryFailure() {
        CompletableFuture<ZMTPAuthDecision> unsent = ask("unsent");
        ZMTPSocket rep = handler(REP);
        CompletableFuture<ZMTPAuthDecision> sent = ask("sent");
        next(rep).release();

        zap.close();
        loop.run();

        assertThat(unsent).isCompletedWithValue(CLOSED);
        assertThat(sent).isCompletedWithValue(CLOSED);
        assertThat(ask("later")).isCompletedWithValue(CLOSED);
    }

    @Test
    void theEndOfManyRequestsIsNotOneTask() {
        AtomicLong done = new AtomicLong();
        for (int i = 0; i < MAX_PENDING; i++) {
            zap.authenticate(user("user")).thenRun(done::incrementAndGet);
        }
        loop.run();
        Turns turns = Turns.of(loop.eventLoop(), done::get);

        zap.close();
        loop.run();

        assertThat(done).hasValue(MAX_PENDING);
        assertThat(turns.most()).isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    @Test
    void afterTheEndOfItsEventLoopEachDecisionIsATemporaryFailure() {
        zap.close();
        loop.close();

        assertThat(zap.authenticate(user("admin")).toCompletableFuture()).isCompletedWithValue(CLOSED);
        zap.close();
    }

    /** Its timers do not run any more. */
    @Test
    void aRequestThatWaitsAtTheEndOfItsEventLoopIsATemporaryFailure() {
        EventLoopGroup group = EventLoops.newGroup(1);
        ZMTPSocket dealer = ZMTPSocket.of(ZMTPZapSocket.config().group(group).build());
        ZMTPZapSocket waiting = ZMTPZapSocket.connect(dealer, "inproc://nobody", TIMEOUT);
        CompletableFuture<ZMTPAuthDecision> decision =
                waiting.authenticate(user("admin")).toCompletableFuture();

        new EventLoops(group).close();

        assertThat(get(decision)).isEqualTo(CLOSED);
    }

    // Secrets

    private List<byte[]> copiesOf(Runnable then) {
        return CredentialCopies.of(zap, user("admin"), then);
    }

    @Test
    void credentialsAreWipedOnceTheHandlerHasReleasedTheRequest() {
        ZMTPSocket rep = handler(REP);

        CredentialCopies.assertWiped(copiesOf(() -> {
            loop.run();
            next(rep).release();
        }));
    }

    @Test
    void credentialsAreWipedIfNoHandlerIsThereInTime() {
        CredentialCopies.assertWiped(copiesOf(() -> loop.advance(TIMEOUT)));
    }

    @Test
    void credentialsAreWipedByAClose() {
        CredentialCopies.assertWiped(copiesOf(() -> {
            loop.run();
            zap.close();
            loop.run();
        }));
    }

    @Test
    void credentialsAreWipedAfterAClose() {
        zap.close();
        loop.run();

        CredentialCopies.assertWiped(copiesOf(loop::run));
    }

    @Test
    void credentialsAreWipedIfTooManyRequestsArePending() {
        for (int i = 0; i < MAX_PENDING; i++) {
            zap.authenticate(user("user"));
        }

        CredentialCopies.assertWiped(copiesOf(loop::run));
    }

    @Test
    void credentialsAreWipedIfTheEventLoopHasEnded() {
        zap.close();
        loop.close();

        CredentialCopies.assertWiped(copiesOf(() -> {}));
    }

    @Test
    void aPasswordMayBeWipedAfterTheCall() {
        ZMTPSocket rep = handler(REP);
        ByteBuffer password = bytes("secret");
        zap.authenticate(new ZMTPAuthRequest(
                "", null, bytes(""), ZMTPPlain.NAME, List.of(bytes("admin"), password), List.of(), null));
        password.put(0, (byte) 0);
        loop.run();

        assertThat(frames(next(rep))).endsWith("admin", "secret");
    }

    // Settings

    @ParameterizedTest
    @ValueSource(longs = {0, -1})
    void theTimeoutMustBePositive(long millis) {
        assertThatThrownBy(() -> ZMTPZapSocket.connect(ENDPOINT, Duration.ofMillis(millis)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: more than zero");
    }

    @Test
    void anInvalidEndpointIsRefused() {
        assertThatThrownBy(() -> ZMTPZapSocket.connect("zeromq.zap.01", TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theSocketMustBeADealer() {
        ZMTPSocket req = loop.open(ZMTPSocketConfig.builder(REQ));

        assertThatThrownBy(() -> ZMTPZapSocket.connect(req, ENDPOINT, TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("dealer: REQ (expected: DEALER)");
    }

    @Test
    void aSocketWithAReceiverIsRefused() {
        ZMTPSocket dealer = loop.open(ZMTPZapSocket.config());
        dealer.onMessage((from, message) -> message.release());

        assertThatThrownBy(() -> ZMTPZapSocket.connect(dealer, ENDPOINT, TIMEOUT))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aRefusedSocketIsClosed() {
        ZMTPSocket dealer = loop.open(ZMTPZapSocket.config());
        assertThatThrownBy(() -> ZMTPZapSocket.connect(dealer, "zeromq.zap.01", TIMEOUT))
                .isInstanceOf(IllegalArgumentException.class);
        loop.run();

        assertThat(dealer.closeFuture()).isCompleted();
    }

    @Test
    void theSocketIsClosedWithTheAuthenticator() {
        ZMTPSocket dealer = loop.open(ZMTPZapSocket.config());
        ZMTPZapSocket.connect(dealer, ENDPOINT, TIMEOUT).close();
        loop.run();

        assertThat(dealer.closeFuture()).isCompleted();
    }

    /** A service with PLAIN, whose users a handler in the same process knows. */
    @Test
    void aServiceAsksAHandlerInItsProcess() {
        close(); // this thread waits, which that of a test loop may not
        try (TestSockets sockets = new TestSockets();
                ZMTPZapSocket real = ZMTPZapSocket.connect("inproc://real.zap", TestSockets.PATIENCE)) {
            ZMTPSocket rep = sockets.open(REP);
            rep.serve(ZMTPZapSocketTest::decide);
            rep.bind("inproc://real.zap");
            ZMTPSocket pull = sockets.open(sockets.builder(PULL)
                    .codec(codec -> codec.mechanism(ZMTPPlain.server()).authenticator(real)));
            String endpoint = bind(pull, "tcp://127.0.0.1:*");
            ZMTPSocket stranger = sockets.open(
                    sockets.builder(PUSH).codec(codec -> codec.mechanism(ZMTPPlain.client("stranger", "secret"))));
            stranger.connect(endpoint);
            ZMTPSocket push = sockets.open(
                    sockets.builder(PUSH).codec(codec -> codec.mechanism(ZMTPPlain.client("admin", "secret"))));
            ZMTPEndpoint connected = push.connect(endpoint);
            get(push.sendAsync(message("hello")));

            assertThat(TestSockets.receive(pull)).containsExactly("hello");
            assertThat(connected.peer()).isNotNull();
            TestSockets.await("the refusal", () -> pull.stats().handshakeFailures() > 0);
            assertThat(pull.stats().connects()).isEqualTo(1);
        }
    }

    private static void decide(ZMTPRequest request) {
        String id = request.message().frameUTF8(1);
        boolean isKnown = request.message().frameUTF8(6).equals("admin");
        request.reply(message("1.0", id, isKnown ? "200" : "400", "", "", ""));
    }
}
