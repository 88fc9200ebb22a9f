package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.PUB;
import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.codec.ZMTPConfig;
import dev.zmtp.codec.ZMTPProtocols;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Topics on their way through a proxy whose sockets have an event loop each. */
class SubscriptionRelayTest {

    private static String text(ZMTPSubscription request) {
        return request.topic().toString(UTF_8);
    }

    @Test
    void changesThatComeFasterThanTheyAreRelayedDoNotFillTheQueueOfAnEventLoop() {
        int changes = 20_000;
        try (TestSockets sockets = new TestSockets(3)) {
            ZMTPSocket frontend = sockets.open(XPUB);
            ZMTPSocket backend = sockets.open(XSUB);
            ZMTPSocket publisher = sockets.open(XPUB);
            assertThat(frontend.eventLoop()).isNotSameAs(backend.eventLoop());
            Set<String> topics = new ConcurrentSkipListSet<>();
            publisher.onSubscription((peer, request) -> {
                if (request.isSubscribe()) {
                    topics.add(text(request));
                } else {
                    topics.remove(text(request));
                }
            });
            connect(backend, bind(publisher, "inproc://origin"));
            ZMTPProxy.start(frontend, backend);
            ZMTPSocket sub = sockets.open(SUB);
            connect(sub, bind(frontend, "inproc://front"));
            sub.subscribe("first");
            await("it is relayed", () -> topics.contains("first"));
            Set<String> heard = new ConcurrentSkipListSet<>();
            frontend.onSubscription((peer, request) -> heard.add(text(request)));
            Busy busy = new Busy(backend.eventLoop());

            for (int i = 0; i < changes; i++) {
                ZMTPRegistration registration = sub.subscribe("toggled");
                if (i % 500 == 0) { // or both might cancel each other out on their way to the proxy
                    String mark = "mark " + i;
                    sub.subscribe(mark);
                    await("the proxy knows", () -> heard.contains(mark));
                }
                registration.close();
            }
            sub.subscribe("last");
            await("the proxy knows", () -> heard.contains("last"));

            int tasks = ((SingleThreadEventExecutor) backend.eventLoop()).pendingTasks();
            busy.end();
            assertThat(tasks).isLessThan(100);
            await("all is relayed", () -> topics.contains("last"));
            assertThat(topics).containsAll(List.of("first", "mark 0", "last")).doesNotContain("toggled");
        }
    }

    /** A publisher allows a SUB the topics of a single subscriber, and would end its connection. */
    @Test
    void aSubSubscribesToNothingForTheSubscribersOfItsProxy() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket frontend = sockets.open(XPUB);
            ZMTPSocket backend = sockets.open(SUB);
            ZMTPSocket publisher = sockets.open(XPUB);
            List<String> told = new CopyOnWriteArrayList<>();
            publisher.onSubscription((peer, request) -> told.add(text(request)));
            connect(backend, bind(publisher, "inproc://origin"));
            ZMTPProxy.start(frontend, backend);
            ZMTPSocket sub = sockets.open(SUB);
            List<String> heard = new CopyOnWriteArrayList<>();
            frontend.onSubscription((peer, request) -> heard.add(text(request)));
            sub.subscribe("topic");
            connect(sub, bind(frontend, "inproc://front"));
            await("the proxy knows", () -> heard.contains("topic"));

            backend.subscribe("of the application");
            await("it is told", () -> told.contains("of the application"));

            assertThat(told).containsExactly("of the application");
        }
    }

    /** To a publisher of 3.1, a topic is sent as a command, which is longer than the message of an older subscriber. */
    @Test
    void aTopicThatIsTooLongForACommandDoesNotEndTheConnectionToThePublisher() {
        try (TestSockets sockets = new TestSockets(1)) {
            ZMTPSocket frontend = sockets.open(XPUB);
            ZMTPSocket backend = sockets.open(XSUB);
            ZMTPSocket publisher = sockets.open(XPUB);
            List<String> told = new CopyOnWriteArrayList<>();
            publisher.onSubscription((peer, request) -> told.add(text(request)));
            connect(backend, bind(publisher, "tcp://127.0.0.1:*"));
            ZMTPProxy.start(frontend, backend);
            ZMTPSocket old = sockets.open(sockets.builder(SUB)
                    .codec(codec -> codec.protocol(ZMTPProtocols.ZMTP30).maxCommandLength(10_000)));
            connect(old, bind(frontend, "tcp://127.0.0.1:*"));
            int longest = ZMTPConfig.builder().socketType(PUB).build().maxCommandLength() - 10;

            old.subscribe("t".repeat(longest + 1));
            old.subscribe("t".repeat(longest));

            await("the second is relayed", () -> told.contains("t".repeat(longest)));
            assertThat(told).hasSize(1);
            assertThat(publisher.stats().connects()).isOne();
        }
    }

    /** Or messages that are wanted all the time would be missed. */
    @Test
    void aTopicThatOthersReplaceIsCancelledAfterTheyWereSubscribed() {
        int topics = 100;
        try (TestSockets sockets = new TestSockets(3)) {
            ZMTPSocket frontend = sockets.open(XPUB);
            ZMTPSocket backend = sockets.open(XSUB);
            ZMTPSocket publisher = sockets.open(XPUB);
            assertThat(frontend.eventLoop()).isNotSameAs(backend.eventLoop());
            List<ZMTPSubscription> told = new CopyOnWriteArrayList<>();
            publisher.onSubscription((peer, request) -> told.add(request));
            connect(backend, bind(publisher, "inproc://origin"));
            ZMTPProxy.start(frontend, backend);
            Set<String> heard = new ConcurrentSkipListSet<>();
            frontend.onSubscription((peer, request) -> heard.add(text(request) + request.isSubscribe()));
            ZMTPSocket sub = sockets.open(SUB);
            connect(sub, bind(frontend, "inproc://front"));
            ZMTPRegistration all = sub.subscribe("");
            await("it is relayed", () -> told.size() == 1);
            Busy busy = new Busy(backend.eventLoop());

            for (int i = 0; i < topics; i++) {
                sub.subscribe("topic " + i);
            }
            all.close();
            await("the proxy knows", () -> heard.size() == 1 + topics + 1);
            busy.end();

            await("all is told", () -> told.size() == 1 + topics + 1);
            assertThat(told.get(1 + topics)).isEqualTo(ZMTPSubscription.cancel(""));
        }
    }

    /** A peer chooses how many topics there are, and others how many publishers. */
    @Test
    void changesThatWaitAreToldToManyPublishersInManyTasks() throws Exception {
        int publishers = 40;
        int topics = 2_000;
        try (TestSockets sockets = new TestSockets(3)) {
            ZMTPSocket frontend = sockets.open(XPUB);
            AtomicInteger commands = new AtomicInteger();
            ZMTPSocket backend = sockets.open(sockets.builder(XSUB)
                    .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new CountingWrites(commands))));
            assertThat(frontend.eventLoop()).isNotSameAs(backend.eventLoop());
            String origin = bind(backend, "inproc://origins");
            for (int i = 0; i < publishers; i++) {
                connect(sockets.open(XPUB), origin);
            }
            await("all publishers", () -> backend.peers().size() == publishers);
            ZMTPProxy.start(frontend, backend);
            Set<String> heard = new ConcurrentSkipListSet<>();
            frontend.onSubscription((peer, request) -> heard.add(text(request)));
            Busy busy = new Busy(backend.eventLoop());
            WritesPerTurn turns = new WritesPerTurn(backend.eventLoop(), commands);
            ZMTPSocket sub = sockets.open(SUB);
            connect(sub, bind(frontend, "inproc://front"));
            for (int i = 0; i < topics; i++) {
                sub.subscribe("topic " + i);
            }
            await("the proxy knows", () -> heard.size() == topics);

            busy.end();

            await("all is told", () -> commands.get() >= topics * publishers);
            turns.end();
            assertThat(turns.most).hasValueBetween(1, 4 * 1_024);
        }
    }

    /** The most writes between two runs of a task that queues itself. */
    private static final class WritesPerTurn implements Runnable {
        private final EventLoop loop;
        private final AtomicInteger writes;
        private final AtomicInteger most = new AtomicInteger();
        private volatile boolean ended;
        private int last;

        WritesPerTurn(EventLoop loop, AtomicInteger writes) {
            this.loop = loop;
            this.writes = writes;
            loop.execute(this);
        }

        @Override
        public void run() {
            int now = writes.get();
            most.accumulateAndGet(now - last, Math::max);
            last = now;
            if (!ended) { // not execute, because the event loop would not read from time to time
                loop.schedule(this, 0, TimeUnit.NANOSECONDS);
            }
        }

        void end() {
            ended = true;
        }
    }

    private static final class CountingWrites extends ChannelOutboundHandlerAdapter {
        private final AtomicInteger writes;

        CountingWrites(AtomicInteger writes) {
            this.writes = writes;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            writes.incrementAndGet();
            ctx.write(msg, promise);
        }
    }
}
