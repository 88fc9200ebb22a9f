package dev.zmtp.internal.socket.send;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.socket.ZMTPSocketException.Reason.CLOSED;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static dev.zmtp.testing.TestSockets.reason;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zmtp.ZMTPMessage;
import dev.zmtp.internal.socket.SocketCore;
import dev.zmtp.internal.socket.peer.Peer;
import dev.zmtp.internal.socket.peer.QueuedMessage;
import dev.zmtp.internal.socket.peer.RecordedOutgoing;
import dev.zmtp.socket.ClockedSockets;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.socket.ZMTPSocketConfig.OverflowPolicy;
import dev.zmtp.testing.EventLoops;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.EventLoopGroup;
import io.netty.util.IllegalReferenceCountException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Messages of other threads that come to the event loop late. */
class SendersTest {

    private static final String NOBODY = "tcp://127.0.0.1:1";

    /** As if its thread had been stopped between the two calls. */
    private static Sent toAny(ZMTPSocket socket, ZMTPMessage message, CompletableFuture<Void> result) {
        SocketCore core = ClockedSockets.core(socket);
        return new Sent.ToAny(core.senders(), core.context(), message, result);
    }

    /** A line apart from that of the socket. */
    private static WaitingSends line(ZMTPSocket push) {
        SocketCore core = ClockedSockets.core(push);
        return new WaitingSends(core.context(), () -> true, core.senders()::hand, m -> false, () -> {}, () -> {});
    }

    /** The answers of workers come without end, each after the other. */
    @Test
    void aThreadThatWaitsForRoomDoesNotWaitForLaterAnswers(TestSockets sockets) throws Exception {
        int most = 50_000;
        ZMTPSocket router = sockets.open(
                sockets.builder(ROUTER).overflowPolicy(OverflowPolicy.DROP_NEW).sendQueueLimit(1, 1 << 20));
        connect(sockets.open(DEALER), bind(router, "inproc://answers"));
        ZMTPPeer peer = TestSockets.peer(router);
        SocketCore core = ClockedSockets.core(router);
        Senders senders = core.senders();
        long taken = 0;
        while (senders.credit().take(0)) {
            taken++;
        }
        long all = taken;
        CompletableFuture<Void> returned = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                peer.send(message("waits"));
                returned.complete(null);
            } catch (Exception e) {
                returned.completeExceptionally(e);
            }
        });
        thread.start();
        TestSockets.await("it waits", () -> router.stats().queued() == 1);
        TestSockets.settle(router);
        CompletableFuture<Integer> answers = new CompletableFuture<>();

        core.context().eventLoop().execute(() -> {
            senders.directly().handAnswer(new Runnable() {
                private int count;

                @Override
                public void run() {
                    if (++count == most || senders.isWayOpen()) {
                        answers.complete(count);
                    } else {
                        senders.directly().handAnswer(this);
                    }
                }
            });
            senders.credit().give(all, 0);
        });

        assertThat(get(answers)).isLessThan(most);
        get(returned);
    }

    @Test
    void whatAThreadHandsOverJustAfterTheEndFails(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(NOBODY);
        Senders senders = ClockedSockets.core(push).senders();
        ZMTPMessage message = message("late");
        CompletableFuture<Void> result = new CompletableFuture<>();
        assertThat(senders.credit().take(message.readableBytes())).isTrue();
        get(push.closeAsync(Duration.ZERO));

        senders.hand(toAny(push, message, result));

        assertThat(reason(result)).isEqualTo(CLOSED);
        assertThat(message.refCnt()).isZero();
    }

    /** As if its thread had been stopped between the two calls. */
    @Test
    void aRequestThatAThreadHandsOverJustAfterTheEndFails(TestSockets sockets) {
        ZMTPSocket dealer = sockets.open(DEALER);
        Senders senders = ClockedSockets.core(dealer).senders();
        ZMTPMessage message = message("late");
        RecordedOutgoing request = new RecordedOutgoing(message);
        assertThat(senders.credit().take(message.readableBytes())).isTrue();
        get(dealer.closeAsync(Duration.ZERO));

        senders.hand(new Sent.Asked(request));

        assertThat(get(request.refused)).isEqualTo(CLOSED);
        assertThat(message.refCnt()).isZero();
    }

    /** Hands over a message that its sender releases before it has come to the event loop. */
    private static CompletableFuture<Void> handReleased(ZMTPSocket socket) {
        Senders senders = ClockedSockets.core(socket).senders();
        ZMTPMessage message = message("released twice");
        CompletableFuture<Void> result = new CompletableFuture<>();
        assertThat(senders.credit().take(message.readableBytes())).isTrue();
        socket.eventLoop().execute(() -> {
            senders.hand(toAny(socket, message, result));
            message.release();
        });
        return result;
    }

    @Test
    void aMessageThatItsSenderHasAlsoReleasedKeepsNoRoom(TestSockets sockets) {
        ZMTPSocket pub = sockets.open(PUB);
        Senders senders = ClockedSockets.core(pub).senders();
        String all = senders.credit().toString();

        CompletableFuture<Void> result = handReleased(pub);

        assertThat(result).failsWithin(TestSockets.PATIENCE);
        TestSockets.settle(pub);
        assertThat(senders.credit()).hasToString(all);
    }

    @Test
    void aQueuedMessageThatItsSenderHasAlsoReleasedKeepsNoRoom(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect(NOBODY);
        Senders senders = ClockedSockets.core(push).senders();
        String all = senders.credit().toString();
        CompletableFuture<Void> result = handReleased(push);

        get(push.closeAsync(Duration.ZERO));

        assertThat(reason(result)).isEqualTo(CLOSED);
        assertThat(senders.credit()).hasToString(all);
    }

    @Test
    void aMessageToAPeerThatItsSenderReleasesWhileItWaitsKeepsNoRoom(TestSockets sockets) throws InterruptedException {
        ZMTPSocket router = sockets.open(sockets.builder(ROUTER).overflowPolicy(OverflowPolicy.DROP_NEW));
        connect(sockets.open(DEALER), bind(router, "inproc://released"));
        Senders senders = ClockedSockets.core(router).senders();
        int all = senders.limit().messages();
        String full = senders.credit().toString();
        senders.credit().give(-all, 0);
        ZMTPMessage message = message("released twice");
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            try {
                TestSockets.peer(router).send(message);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        TestSockets.await("it waits", () -> senders.waiting() == 1);

        message.release();
        senders.credit().give(all - 1, 0);
        senders.giveRoomBack(0);
        get(sent);
        TestSockets.settle(router);

        assertThat(senders.credit()).hasToString(full);
    }

    /** Until then, its answer has taken room and not its envelope. */
    @Test
    void anAnswerThatItsSenderReleasesWhileItWaitsKeepsNoRoom(TestSockets sockets) {
        ZMTPSocket rep = sockets.open(REP);
        connect(sockets.open(REQ), bind(rep, "inproc://released"));
        Senders senders = ClockedSockets.core(rep).senders();
        String all = senders.credit().toString();
        ZMTPMessage answer = message("released twice");

        Peer peer = (Peer) TestSockets.peer(rep);
        assertThatThrownBy(() -> senders.blocking()
                        .answer(
                                peer,
                                peer.occupant(),
                                answer,
                                0,
                                waited -> {
                                    answer.release();
                                    throw new IllegalReferenceCountException("of the test");
                                },
                                null))
                .hasMessage("of the test");

        assertThat(senders.credit()).hasToString(all);
    }

    /** As if its thread had been stopped between the two calls. */
    @Test
    void whatAThreadHandsOverToAnEventLoopThatHasEndedFails() {
        EventLoopGroup group = EventLoops.newGroup(1);
        ZMTPSocket push =
                ZMTPSocket.of(ZMTPSocketConfig.builder(PUSH).group(group).build());
        Senders senders = ClockedSockets.core(push).senders();
        WaitingSends line = line(push);
        List<CompletableFuture<Void>> results = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        new EventLoops(group).close();

        senders.hand(toAny(push, message("late"), results.get(0)));
        line.join(new QueuedMessage(message("late"), results.get(1), 0), 1);

        assertThat(results).allSatisfy(result -> assertThat(reason(result)).isEqualTo(CLOSED));
        assertThat(line.size()).isZero();
        assertThat(push.stats().dropped()).isEqualTo(2);
        get(push.closeAsync(Duration.ZERO));
    }

    /** As if its thread had been stopped between the two calls. */
    @Test
    void aSendThatJoinsTheLineJustAfterTheEndFails(TestSockets sockets) {
        ZMTPSocket push = sockets.open(PUSH);
        WaitingSends line = line(push);
        ZMTPMessage message = message("late");
        CompletableFuture<Void> result = new CompletableFuture<>();
        line.failAll();

        line.join(new QueuedMessage(message, result, 0), 1);

        assertThat(reason(result)).isEqualTo(CLOSED);
        assertThat(message.refCnt()).isZero();
        assertThat(line.size()).isZero();
        assertThat(push.stats().dropped()).isEqualTo(1);
    }
}
