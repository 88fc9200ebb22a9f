package dev.zmtp.internal.socket;

import static dev.zmtp.ZMTPSocketType.DEALER;
import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.PULL;
import static dev.zmtp.ZMTPSocketType.PUSH;
import static dev.zmtp.ZMTPSocketType.ROUTER;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static dev.zmtp.testing.TestSockets.get;
import static dev.zmtp.testing.TestSockets.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSocketType;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.internal.socket.context.PendingFlushes;
import dev.zmtp.socket.ZMTPPeer;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.testing.EventLoops;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An event loop reads from its connections while a socket has work that does not end. */
class ReadsInBetweenTest {

    /** Far more than a chain of sends can make in the time between two reads. */
    private static final int MANY_SENDS = 5_000;

    private final EventLoops here = EventLoops.resting(1);
    private final EventLoops there = EventLoops.resting(1);

    private final List<ZMTPSocket> sockets = new ArrayList<>();

    /** What the event loop has done, and how much of it before it read from its connections. */
    private final AtomicLong done = new AtomicLong();

    private final CompletableFuture<Long> doneBeforeTheRead = new CompletableFuture<>();
    private long begin = LoopBudget.MESSAGES;
    private volatile boolean over;

    @AfterEach
    void close() {
        over = true;
        sockets.forEach(socket -> get(socket.closeAsync(Duration.ZERO)));
        here.close();
        there.close();
    }

    private ZMTPSocket open(ZMTPSocketConfig.Builder config, EventLoops loops) {
        ZMTPSocket socket = ZMTPSocket.of(config.group(loops.group()).build());
        sockets.add(socket);
        return socket;
    }

    /** Connects to a socket on the other event loop, which releases what it receives. */
    private ZMTPPeer connectTo(ZMTPSocketType type, ZMTPSocket sender) {
        ZMTPSocket receiver = open(ZMTPSocketConfig.builder(type), there);
        receiver.onMessage((peer, message) -> message.release());
        return connect(sender, bind(receiver, "tcp://127.0.0.1:*"));
    }

    private void assertReadsBefore(long most) {
        assertThat(get(doneBeforeTheRead)).isLessThan(most);
        over = true;
    }

    /** On the event loop. Begins when there is surely more to do than can be done at once. */
    private void count(EventLoop loop) {
        if (done.incrementAndGet() == begin) {
            ((SingleThreadEventLoop) loop).executeAfterEventLoopIteration(() -> doneBeforeTheRead.complete(done.get()));
        }
    }

    @Test
    void messagesFromPeersWithinTheProcessThatSendWithoutEnd() throws InterruptedException {
        ZMTPSocket pull = open(ZMTPSocketConfig.builder(PULL), here);
        pull.onMessage((peer, message) -> {
            message.release();
            work(20_000); // slower than the senders
            count(pull.eventLoop());
        });
        String endpoint = bind(pull, "inproc://flood");
        List<ZMTPSocket> pushes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH), there);
            connect(push, endpoint);
            pushes.add(push);
        }
        Thread sender = new Thread(() -> {
            while (!over) {
                pushes.forEach(push -> push.sendOrDrop(message("m")));
            }
        });
        sender.start();

        assertReadsBefore(6 * LoopBudget.MESSAGES + 1);
        sender.join();
    }

    /** A message to many subscribers is as much work as many messages. */
    @Test
    void messagesToManySubscribers() {
        begin = 1;
        ZMTPSocket pub = open(ZMTPSocketConfig.builder(PUB), here);
        int many = 500;
        subscribe(pub, many);

        AtomicBoolean sent = new AtomicBoolean();
        pub.eventLoop().execute(() -> {
            while (!sent.get()) {
                work(1_000);
            }
        });
        for (int i = 0; i < LoopBudget.MESSAGES; i++) { // as many as a task takes at once
            pub.sendAsync(message("m")).thenRun(() -> count(pub.eventLoop()));
        }
        sent.set(true);

        assertReadsBefore(2L * PendingFlushes.MAX_WRITES / many);
    }

    private void subscribe(ZMTPSocket pub, int subscribers) {
        String endpoint = bind(pub, "inproc://many");
        for (int i = 0; i < subscribers; i++) {
            ZMTPSocket sub = open(ZMTPSocketConfig.builder(SUB), there);
            sub.onMessage((peer, message) -> message.release());
            sub.subscribe("");
            sub.connect(endpoint);
        }
        get(pub.whenPeers(subscribers));
    }

    @Test
    void aChainOfSends() {
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH), here);
        connectTo(PULL, push);

        push.eventLoop().execute(() -> sendAgain(push, 0));

        assertReadsBefore(MANY_SENDS);
    }

    @Test
    void aChainOfSendsWithWorkInBetween() {
        begin = 50;
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH), here);
        connectTo(PULL, push);

        push.eventLoop().execute(() -> sendAgain(push, 1_100_000));

        assertReadsBefore(70);
    }

    /** Works for a while: to sleep or to yield would count as blocking. */
    private static void work(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            // again
        }
    }

    @Test
    void aListenerThatSendsToAPeerWheneverThereIsRoom() {
        ZMTPSocket router = open(ZMTPSocketConfig.builder(ROUTER).sendQueueLimit(10, 1 << 20), here);
        ZMTPPeer peer = connectTo(DEALER, router);

        peer.onWritable(() -> {
            while (peer.isWritable() && !over) {
                peer.sendOrDrop(message("m"));
                count(router.eventLoop());
            }
        });

        assertReadsBefore(MANY_SENDS);
    }

    @Test
    void aListenerThatSendsWheneverThereIsRoom() {
        ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH), here);
        connectTo(PULL, push);

        push.onWritable(() -> {
            while (push.isWritable() && !over) {
                push.sendOrDrop(message("m"));
                count(push.eventLoop());
            }
        });

        assertReadsBefore(MANY_SENDS);
    }

    /** Before the event loop has made half as many sends as it may in a task. */
    @Test
    void aListenerThatPublishesWheneverThereIsRoom() {
        begin = 1;
        ZMTPSocket pub = open(ZMTPSocketConfig.builder(PUB), here);
        int many = 500;
        subscribe(pub, many);

        pub.onWritable(() -> {
            while (pub.isWritable() && !over) {
                pub.sendOrDrop(message("m"));
                count(pub.eventLoop());
            }
        });

        assertReadsBefore(2L * PendingFlushes.MAX_WRITES / many);
    }

    /** Sends, and after this work sends again. */
    private void sendAgain(ZMTPSocket push, long work) {
        push.sendAsync(message("m")).thenRun(() -> {
            work(work);
            count(push.eventLoop());
            if (!over) {
                sendAgain(push, work);
            }
        });
    }

    /** A loop without channels to check, such as of transports within the process, reads nothing in between. */
    @Test
    @SuppressWarnings("deprecation") // its successor is in Netty 4.2 only
    void manyMessagesOnAnEventLoopWithoutReads() {
        int many = 5 * LoopBudget.MESSAGES;
        try (EventLoops plain = new EventLoops(new DefaultEventLoopGroup(1))) {
            ZMTPSocket pull = open(ZMTPSocketConfig.builder(PULL), plain);
            pull.onMessage((peer, message) -> {
                message.release();
                done.incrementAndGet();
            });
            ZMTPSocket push = open(ZMTPSocketConfig.builder(PUSH).sendQueueLimit(many, 1 << 30), plain);
            connect(push, bind(pull, "inproc://plain"));

            for (int i = 0; i < many; i++) {
                push.sendOrDrop(message("m"));
            }

            await("all there", () -> done.get() == many);
            get(push.closeAsync(Duration.ZERO));
            get(pull.closeAsync(Duration.ZERO));
        }
    }
}
