package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.REP;
import static dev.zmtp.ZMTPSocketType.REQ;
import static dev.zmtp.internal.socket.TestSockets.await;
import static dev.zmtp.internal.socket.TestSockets.bind;
import static dev.zmtp.internal.socket.TestSockets.connect;
import static dev.zmtp.internal.socket.TestSockets.get;
import static dev.zmtp.internal.socket.TestSockets.message;
import static dev.zmtp.internal.socket.TestSockets.receive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.socket.ZMTPSocket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When a sender should go on, and who is told that it should. */
class WritableSocketTest {

    private final TestSockets sockets = new TestSockets();

    @AfterEach
    void close() {
        sockets.close();
    }

    @Test
    void itIsWritableUntilAQuarterOfItsLimitWaitsAndTakesMessagesUntilAllOfItDoes() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendLimit(8, 1 << 20));
        push.connect("inproc://nobody");

        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.isWritable()).isTrue();
        assertThat(push.trySend(message("2"))).isTrue();
        assertThat(push.isWritable()).isFalse();
        for (int i = 3; i <= 8; i++) {
            assertThat(push.trySend(message("" + i))).as("message %d", i).isTrue();
        }
    }

    @Test
    void theBytesThatWaitCountAsTheMessagesDo() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendLimit(1_000, 8));
        push.connect("inproc://nobody");

        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.isWritable()).isTrue();
        assertThat(push.trySend(message("2"))).isTrue();
        assertThat(push.isWritable()).isFalse();
    }

    @Test
    void anActionIsCalledAtOnceIfTheSocketIsWritable() {
        ZMTPSocket push = sockets.open(PUSH);
        push.connect("inproc://nobody");
        CompletableFuture<Boolean> onLoop = new CompletableFuture<>();

        push.onWritable(() -> onLoop.complete(push.loop().inEventLoop()));

        assertThat(get(onLoop)).isTrue();
    }

    @Test
    void anActionIsCalledWhenTheFirstPeerIsThere() {
        ZMTPSocket push = sockets.open(PUSH);
        String endpoint = bind(push, "inproc://first");
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        get(CompletableFuture.runAsync(() -> {}, push.loop())); // it was registered
        assertThat(calls).hasValue(0);

        connect(sockets.open(PULL), endpoint);

        await("a call", () -> calls.get() == 1);
    }

    @Test
    void anActionIsCalledWhenSomebodyHasSeenThatTheSocketWasNotWritable() {
        ZMTPSocket push = sockets.open(sockets.builder(PUSH).sendLimit(4, 1 << 20));
        push.connect("inproc://later");
        AtomicInteger calls = new AtomicInteger();
        push.onWritable(calls::incrementAndGet);
        await("the first call", () -> calls.get() == 1);
        assertThat(push.trySend(message("1"))).isTrue();
        assertThat(push.isWritable()).isFalse();

        ZMTPSocket pull = sockets.open(PULL);
        bind(pull, "inproc://later");

        assertThat(receive(pull)).containsExactly("1");
        await("a call", () -> calls.get() == 2);
    }

    /** Whatever becomes of the messages: a publisher without subscribers drops them, a connecting socket keeps them. */
    @ParameterizedTest
    @EnumSource(
            value = ZMTPSocketType.class,
            names = {"PULL", "GATHER", "SUB", "DISH"},
            mode = EnumSource.Mode.EXCLUDE)
    void aLoopThatSendsWhileTheSocketIsWritableEnds(ZMTPSocketType type) {
        ZMTPSocket socket = sockets.open(sockets.builder(type).sendLimit(1_000_000, 1 << 30));
        socket.connect("inproc://nobody");

        int sent = get(CompletableFuture.supplyAsync(() -> fill(socket), socket.loop()));

        assertThat(sent).isLessThanOrEqualTo(1_024);
    }

    private static int fill(ZMTPSocket socket) {
        int sent = 0;
        while (socket.isWritable() && sent < 10_000) {
            boolean named = Patterns.namesPeers(socket.type()) || socket.type() == ZMTPSocketType.RADIO;
            socket.sendOrDrop(named ? message("a", "b") : message("m"));
            sent++;
        }
        return sent;
    }

    @Test
    void theLoopGoesOnInTheNextTurn() {
        ZMTPSocket pub = sockets.open(ZMTPSocketType.PUB);
        AtomicInteger sent = new AtomicInteger();

        pub.onWritable(() -> {
            while (sent.get() < 5_000 && pub.isWritable()) {
                pub.sendOrDrop(message("m"));
                sent.incrementAndGet();
            }
        });

        await("all were sent", () -> sent.get() == 5_000);
    }

    @Test
    void aReqIsWritableAgainWhenTheAnswerWasReceived() {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, "inproc://turns"));
        rep.serve(request -> request.reply(request.message()));
        assertThat(req.isWritable()).isTrue();
        req.sendOrDrop(message("?"));
        AtomicInteger calls = new AtomicInteger();
        req.onWritable(calls::incrementAndGet);
        assertThat(req.isWritable()).isFalse();
        assertThat(calls).hasValue(0);

        assertThat(receive(req)).containsExactly("?");

        await("a call", () -> calls.get() == 1);
    }

    @Test
    void aRepIsWritableWhileItOwesAnAnswer() {
        ZMTPSocket req = sockets.open(REQ);
        ZMTPSocket rep = sockets.open(REP);
        connect(req, bind(rep, "inproc://answers"));
        assertThat(rep.isWritable()).isFalse();
        req.sendOrDrop(message("?"));

        assertThat(receive(rep)).containsExactly("?");

        assertThat(rep.isWritable()).isTrue();
        rep.sendOrDrop(message("!"));
        assertThat(rep.isWritable()).isFalse();
        assertThat(receive(req)).containsExactly("!");
    }
}
