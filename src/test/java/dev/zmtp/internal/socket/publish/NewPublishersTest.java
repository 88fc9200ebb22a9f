package dev.zmtp.internal.socket.publish;

import static dev.zmtp.ZMTPSocketType.XPUB;
import static dev.zmtp.ZMTPSocketType.XSUB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.ZMTPSubscription;
import dev.zmtp.internal.runtime.LoopBudget;
import dev.zmtp.socket.ZMTPSocket;
import dev.zmtp.socket.ZMTPSocketConfig;
import dev.zmtp.test.ZMTPTestLoop;
import dev.zmtp.testing.Turns;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Publishers that come to a subscriber of many topics. */
@Tag("netty-4.2-only")
class NewPublishersTest {

    private static final String ENDPOINT = "inproc://many-topics";
    private static final int TOPICS = 20_000;

    private final ZMTPTestLoop loop = ZMTPTestLoop.create();
    private final AtomicLong commands = new AtomicLong();
    private Runnable whenWritten = () -> {};
    private final Set<String> heard = new TreeSet<>();
    private final ZMTPSocket xsub = loop.open(ZMTPSocketConfig.builder(XSUB)
            .pipelineInitializer((endpoint, pipeline) -> pipeline.addLast(new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                    if (msg instanceof ZMTPSubscription) {
                        commands.incrementAndGet();
                    }
                    ctx.write(msg, promise);
                    whenWritten.run();
                }
            })));

    @AfterEach
    void close() {
        loop.close();
    }

    private void publish() {
        ZMTPSocket xpub = loop.open(ZMTPSocketConfig.builder(XPUB));
        xpub.onEverySubscription((peer, request) -> {
            String topic = request.topic().toString(StandardCharsets.UTF_8);
            assertThat(request.isSubscribe() ? heard.add(topic) : heard.remove(topic))
                    .as("%s is a change", request)
                    .isTrue();
        });
        xpub.bind(ENDPOINT);
        xsub.connect(ENDPOINT);
    }

    private void subscribe() {
        for (int i = 0; i < TOPICS; i++) {
            xsub.subscribe("topic/" + i);
        }
        loop.run();
    }

    @Test
    void theTopicsAreWrittenInSeveralTurns() {
        subscribe();
        Turns turns = Turns.of(loop.eventLoop(), commands::get);

        publish();
        loop.run();

        assertThat(heard).hasSize(TOPICS);
        assertThat(turns.most()).isLessThanOrEqualTo(LoopBudget.MESSAGES);
    }

    @Test
    void topicsChangeWhileAPublisherIsTold() {
        subscribe();
        Random random = new Random(3);
        Set<String> wanted = new TreeSet<>();
        for (int i = 0; i < TOPICS; i++) {
            wanted.add("topic/" + i);
        }
        AtomicBoolean changing = new AtomicBoolean();
        whenWritten = () -> {
            if (commands.get() < 2 * TOPICS && changing.compareAndSet(false, true)) { // or a change would cause another
                String topic = "topic/" + random.nextInt(2 * TOPICS);
                if (wanted.add(topic)) {
                    xsub.subscribe(topic);
                } else {
                    wanted.remove(topic);
                    xsub.unsubscribe(topic);
                }
                changing.set(false);
            }
        };

        publish();
        loop.run();

        assertThat(heard).containsExactlyElementsOf(wanted);
    }
}
