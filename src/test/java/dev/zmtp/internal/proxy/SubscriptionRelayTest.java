package dev.zmtp.internal.proxy;

import static dev.zmtp.ZMTPSocketType.SUB;
import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static dev.zmtp.testing.TestSockets.await;
import static dev.zmtp.testing.TestSockets.bind;
import static dev.zmtp.testing.TestSockets.connect;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.socket.ZMTPProxy;
import dev.zmtp.socket.ZMTPRegistration;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.testing.TestSockets;
import dev.zmtp.testing.Turns;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
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
            ZMTPSocket sub = sockets.open(SUB);
            connect(sub, bind(frontend, "inproc://front"));
            for (int i = 0; i < topics; i++) {
                sub.subscribe("topic " + i);
            }
            await("the proxy knows", () -> heard.size() == topics);

            Future<Turns> turns = backend.eventLoop().submit(() -> Turns.of(backend.eventLoop(), commands::get));
            busy.end();

            await("all is told", () -> commands.get() >= topics * publishers);
            assertThat(turns.get().most()).isLessThan(2 * 1_024);
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
