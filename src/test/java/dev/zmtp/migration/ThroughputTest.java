package dev.zmtp.migration;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zmtp.testing.EventLoops;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The throughput client and server, run on loopback. */
class ThroughputTest {

    private final EventLoopGroup group = EventLoops.newGroup(2);

    @AfterEach
    void shutDown() {
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void theServerCountsWhatTheClientSends() throws Exception {
        ThroughputServer server = new ThroughputServer(group);

        ThroughputClient client = new ThroughputClient(group, server.address(), 100_000, "x".repeat(100));

        assertThat(client.counted.get(30, TimeUnit.SECONDS)).isEqualTo("100000 of 10000000");
    }
}
