package dev.zmtp.internal.socket.request;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.socket.ZMTPSocketException.Reason.FULL;
import static dev.zmtp.socket.ZMTPSocketException.Reason.ILLEGAL_STATE;
import static dev.zmtp.socket.ZMTPSocketException.Reason.NO_PEER;
import static dev.zmtp.testing.TestSockets.PATIENCE;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.socket.ZMTPSocketEvent;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.TestSockets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests for a peer that is away: the limit of the queue is for them as well. */
class RequestLimitsTest {

    @ParameterizedTest
    @EnumSource(
            value = OverflowPolicy.class,
            names = {"WAIT", "DROP_NEW"})
    void requestsBeyondTheLimitFailAndGiveTheirPlaceBack(OverflowPolicy policy, TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER)
                .overflowPolicy(policy)
                .sendQueueLimit(2, 16 << 20)
                .maxOutstandingRequests(2));
        dealer.connect("inproc://away");
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("m0"), PATIENCE);
        dealer.requestAsync(message("m1"), PATIENCE);

        assertThat(reason(dealer.requestAsync(message("m2"), PATIENCE))).isEqualTo(FULL);
        ZMTPMessage refused = message("m3");
        assertThat(dealer.trySend(refused)).isFalse();
        refused.release();
        await("the rest in the queue", () -> dealer.stats().queued() == 2);

        first.cancel(false);

        ZMTPMessage another = message("m4");
        await("its place is free", () -> dealer.trySend(another));
    }

    /** Their number is bounded by {@code maxOutstandingRequests}, of which other messages have no part. */
    @Test
    void asManyRequestsWaitAsMayBeOutstandingWhateverMayBeSent(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(1, 1 << 20));
        dealer.connect("inproc://away");

        List<CompletableFuture<ZMTPMessage>> asked = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            asked.add(dealer.requestAsync(message("m"), PATIENCE));
        }

        assertThat(asked).noneMatch(CompletableFuture::isDone);
        assertThat(reason(dealer.requestAsync(message("m"), PATIENCE))).isEqualTo(FULL);
    }

    @Test
    void theBytesOfRequestsAreBoundedAsThoseOfMessages(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(sockets.builder(DEALER).sendQueueLimit(10, 8));
        dealer.connect("inproc://away");
        assertThat(dealer.requestAsync(message("12345678"), PATIENCE)).isNotDone();

        assertThat(reason(dealer.requestAsync(message("m"), PATIENCE))).isEqualTo(FULL);
    }

    @Test
    @Tag("netty-4.2-only")
    void aRequestThatIsCancelledOnItsEventLoopGivesItsPlaceBackAtOnce() {
        try (ZMTPTestLoop loop = ZMTPTestLoop.create()) {
            ZMTPSocket dealer = loop.open(ZMTPSocketConfig.builder(DEALER).maxOutstandingRequests(1));
            dealer.connect("inproc://away");
            CompletableFuture<ZMTPMessage> first = dealer.requestAsync(message("m0"), PATIENCE);

            first.cancel(false);

            assertThat(dealer.stats().queued()).isZero();
            assertThat(dealer.requestAsync(message("m1"), PATIENCE)).isNotDone();
        }
    }

    /** A socket that only binds, and has no peer, has nowhere to keep a request for. */
    @Test
    void aRequestOfABoundSocketWithoutPeersFailsAtOnce(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        bind(dealer, "inproc://nobody");

        assertThat(reason(dealer.requestAsync(message("m"), PATIENCE))).isEqualTo(NO_PEER);
        assertThat(dealer.stats().dropped()).isEqualTo(1);
    }

    /** By its sender, by mistake: the others do not suffer. */
    @Test
    void aRequestWhoseMessageIsReleasedWhileItWaitsFailsAlone(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        dealer.connect("inproc://later");
        ZMTPMessage released = message("released");
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(released, PATIENCE);
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("second"), PATIENCE);
        TestSockets.settle(dealer); // and both are in the queue
        assertThat(dealer.stats().queued()).isEqualTo(2);
        released.release();

        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        bind(rep, "inproc://later");

        assertThat(reason(first)).isEqualTo(ILLEGAL_STATE);
        assertThat(TestSockets.frames(get(second))).containsExactly("second");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRequestOfWhichAFrameIsReleasedWhileItWaitsFailsAloneAndEndsNoConnection(
            boolean retained, TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        TestSockets.Events events = TestSockets.events(dealer);
        dealer.connect("inproc://later");
        ZMTPMessage released = message("released");
        if (retained) {
            released.retain();
        }
        CompletableFuture<ZMTPMessage> first = dealer.requestAsync(released, PATIENCE);
        CompletableFuture<ZMTPMessage> second = dealer.requestAsync(message("second"), PATIENCE);
        TestSockets.settle(dealer);
        released.frame(0).release();

        ZMTPSocket rep = sockets.open(REP);
        rep.serve(request -> request.reply(request.message()));
        bind(rep, "inproc://later");

        assertThat(reason(first)).isEqualTo(ILLEGAL_STATE);
        assertThat(TestSockets.frames(get(second))).containsExactly("second");
        assertThat(events.drain()).noneMatch(ZMTPSocketEvent.PeerDown.class::isInstance);
    }

    /** Its send has a result of its own, which must not stay open. */
    @Test
    void aReqWhoseMessageIsReleasedWhileItWaitsLearnsOfIt(TestSockets sockets) {
        ZMTPSocket req = sockets.open(REQ);
        req.connect("inproc://later");
        ZMTPMessage released = message("released");
        CompletableFuture<Void> sent = req.sendAsync(released);
        TestSockets.settle(req);
        assertThat(req.stats().queued()).isEqualTo(1);
        released.release();

        bind(sockets.open(REP), "inproc://later");

        assertThat(reason(sent)).isEqualTo(ILLEGAL_STATE);
    }
}
