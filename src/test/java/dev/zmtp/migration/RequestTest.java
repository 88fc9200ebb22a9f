package dev.zmtp.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The client and the server of six-frame requests, run on loopback. */
class RequestTest {

    private static final int THREADS = 4;
    private static final int REQUESTS = 2_000;

    private final EventLoopGroup group = EventLoops.newGroup(2);

    @AfterEach
    void shutDown() {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void everyRequestOfEveryThreadGetsItsReply() throws Exception {
        RequestServer server = new RequestServer(group);
        BatchingRequestClient client = new BatchingRequestClient(group, server.address());
        client.ready().get(10, TimeUnit.SECONDS);

        ConcurrentLinkedQueue<CompletableFuture<String>> replies = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < THREADS; t++) {
            String prefix = "thread-" + t + "-";
            Thread thread = new Thread(() -> {
                for (int i = 0; i < REQUESTS; i++) {
                    String body = prefix + i;
                    replies.add(client.ask("/" + i, body).thenApply(reply -> body + " " + reply));
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(replies).hasSize(THREADS * REQUESTS);
        for (CompletableFuture<String> reply : replies) {
            String[] answer = reply.get(30, TimeUnit.SECONDS).split(" ", 3);
            assertThat(answer[1]).isEqualTo("200");
            assertThat(answer[2]).isNotEqualTo(answer[0]).isEqualToIgnoringCase(answer[0]);
        }
        client.close();
    }
}
